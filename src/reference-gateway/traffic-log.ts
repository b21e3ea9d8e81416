import type { Endpoint } from "./endpoint.ts";
import { Ring } from "./ring.ts";

/** One request as the gateway decided on it. */
export interface Arrived {
  /** Monotonic microseconds at which the head of the request was complete. */
  readonly atUs: number;
  /** The same time on the wall clock, Unix epoch milliseconds. */
  readonly atMs: number;
  readonly accountId: string | undefined;
  readonly keyId: string | undefined;
  readonly endpoint: Endpoint;
  readonly stream: boolean;
  readonly status: number;
  readonly reason: string | undefined;
  /** `Retry-After` as sent. */
  readonly retryAfter: string | undefined;
  readonly connectionId: number;
}

export interface TrafficCounts {
  /** Every request. */
  readonly total: number;
  /** With a 2xx status. */
  readonly admitted: number;
  /** By reason. */
  readonly refused: Readonly<Record<string, number>>;
  readonly byEndpoint: Readonly<Record<string, number>>;
}

interface Tally {
  total: number;
  admitted: number;
  refused: Record<string, number>;
  byEndpoint: Record<string, number>;
}

/** Requests whose arrival is recorded individually; counts stay exact beyond. */
const KEPT_ARRIVALS = 100_000;

/** Who sent what and when, for tests of load generators. Requests without a known account only count in the total. */
export class TrafficLog {
  readonly #onRequest: (entry: Arrived) => void;
  #arrivals = new Ring<Arrived>(KEPT_ARRIVALS);
  #all = newTally();
  #tallies = new Map<string, Tally>();

  /** @param onRequest called with each of them. */
  constructor(onRequest: (entry: Arrived) => void = () => undefined) {
    this.#onRequest = onRequest;
  }

  add(entry: Arrived): void {
    this.#onRequest(entry);
    this.#arrivals.add(entry);
    count(this.#all, entry);
    if (entry.accountId === undefined) return;
    const tally = this.#tallies.get(entry.accountId) ?? newTally();
    this.#tallies.set(entry.accountId, tally);
    count(tally, entry);
  }

  /** @returns counts of one account, or of all requests. */
  counts(accountId?: string): TrafficCounts {
    return (accountId === undefined ? this.#all : this.#tallies.get(accountId)) ?? newTally();
  }

  /** @returns arrivals of one account, or of all, oldest first. */
  arrivals(accountId?: string): Arrived[] {
    const found: Arrived[] = [];
    for (const entry of this.#arrivals) if (accountId === undefined || entry.accountId === accountId) found.push(entry);
    return found;
  }

  clear(): void {
    this.#arrivals = new Ring<Arrived>(KEPT_ARRIVALS);
    this.#all = newTally();
    this.#tallies = new Map();
  }
}

function newTally(): Tally {
  return { total: 0, admitted: 0, refused: {}, byEndpoint: {} };
}

function count(tally: Tally, { endpoint, reason }: Arrived): void {
  tally.total += 1;
  tally.byEndpoint[endpoint] = (tally.byEndpoint[endpoint] ?? 0) + 1;
  if (reason === undefined) tally.admitted += 1;
  else tally.refused[reason] = (tally.refused[reason] ?? 0) + 1;
}
