/** One request that counts as in flight. */
export interface Lease {
  /** Monotonic microseconds at which the request is expected to end. A guess; used for `Retry-After` only. */
  readonly expectedEndUs: number;
  /** Stops counting the request as in flight. Calling it again does nothing. */
  release(): void;
}

/** The requests in flight of one account. */
export class ConcurrencyLimiter {
  /** Maximum number of requests in flight; lowering it ends none. */
  limit: number;
  #peak = 0;
  readonly #leases = new Set<Lease>();

  /** @param limit maximum number of requests in flight; whole number, 1 or more. */
  constructor(limit: number) {
    this.limit = limit;
  }

  get held(): number {
    return this.#leases.size;
  }

  /** Highest number of concurrent leases so far. */
  get peak(): number {
    return this.#peak;
  }

  get full(): boolean {
    return this.held >= this.limit;
  }

  /** Counts a request as in flight, even above the limit: the limit is checked before. */
  take(expectedEndUs: number): Lease {
    const leases = this.#leases;
    const lease: Lease = { expectedEndUs, release: () => leases.delete(lease) };
    leases.add(lease);
    if (leases.size > this.#peak) this.#peak = leases.size;
    return lease;
  }

  /** @returns monotonic microseconds at which the first request in flight is expected to end. */
  earliestEndUs(): number {
    let earliest = Number.POSITIVE_INFINITY;
    for (const lease of this.#leases) earliest = Math.min(earliest, lease.expectedEndUs);
    return earliest;
  }
}
