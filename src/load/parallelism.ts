/** Nothing rises so soon after a denial, ms: what was denied then is still on its way. */
const RISE_AFTER_MS = 1_000;

/**
 * How many requests may be in flight at once: one fewer after each concurrency denial, and one more again later, when as many as
 * are allowed were served since (RETRY-6).
 */
export class Parallelism {
  readonly #most: number;
  readonly #nowMs: () => number;
  readonly #waiting: (() => void)[] = [];
  #allowed: number;
  #lowest: number;
  #running = 0;
  #servedSince = 0;
  #deniedMs = Number.NEGATIVE_INFINITY;

  /** @param most in flight at first, and ever. @param nowMs monotonic clock, ms. */
  constructor(most: number, nowMs: () => number = () => performance.now()) {
    this.#most = most;
    this.#allowed = most;
    this.#lowest = most;
    this.#nowMs = nowMs;
  }

  get allowed(): number {
    return this.#allowed;
  }

  /** The fewest that were allowed at a time. */
  get lowest(): number {
    return this.#lowest;
  }

  /** Waits for a place. */
  async enter(): Promise<void> {
    while (this.#running >= this.#allowed) await new Promise<void>((go) => this.#waiting.push(go));
    this.#running++;
  }

  leave(): void {
    this.#running--;
    this.#waiting.shift()?.();
  }

  /** One fewer per denial: a burst of ten against a limit of four has six denials, and four are right. */
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
    if (this.#allowed === this.#most) return;
    this.#allowed++;
    this.#waiting.shift()?.();
  }
}
