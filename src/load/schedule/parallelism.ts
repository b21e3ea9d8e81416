/** The limit is not raised within this time after a denial, ms: earlier requests may still be denied. */
const RISE_AFTER_MS = 1_000;

/**
 * How many requests may be in flight: one fewer after each concurrency denial, and one more later, after as many as are allowed
 * were served (RETRY-6).
 */
export class Parallelism {
  readonly #max: number;
  readonly #nowMs: () => number;
  readonly #waiting: (() => void)[] = [];
  #allowed: number;
  #lowest: number;
  #running = 0;
  #servedSince = 0;
  #deniedMs = Number.NEGATIVE_INFINITY;

  /** @param max initial and maximum number in flight. @param nowMs monotonic clock, ms. */
  constructor(max: number, nowMs: () => number = () => performance.now()) {
    this.#max = max;
    this.#allowed = max;
    this.#lowest = max;
    this.#nowMs = nowMs;
  }

  get allowed(): number {
    return this.#allowed;
  }

  /** The lowest limit so far. */
  get lowest(): number {
    return this.#lowest;
  }

  /** Waits for a free place. */
  async enter(): Promise<void> {
    while (this.#running >= this.#allowed) await new Promise<void>((go) => this.#waiting.push(go));
    this.#running++;
  }

  leave(): void {
    this.#running--;
    this.#waiting.shift()?.();
  }

  /** One fewer per denial: a burst of ten against a limit of four has six denials, and four is the right limit. */
  denied(): void {
    this.#allowed = Math.max(1, this.#allowed - 1);
    this.#lowest = Math.min(this.#lowest, this.#allowed);
    this.#servedSince = 0;
    this.#deniedMs = this.#nowMs();
  }

  served(): void {
    this.#servedSince++;
    if (this.#servedSince < this.#allowed || this.#nowMs() - this.#deniedMs < RISE_AFTER_MS) return;
    this.#servedSince = 0;
    if (this.#allowed === this.#max) return;
    this.#allowed++;
    this.#waiting.shift()?.();
  }
}
