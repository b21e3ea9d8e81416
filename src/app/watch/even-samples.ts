/** More than a report can show: five hours of a sample each second. */
const MOST = 18_000;

/**
 * Samples at even intervals, of a run of any length: when there are too many, every second one goes, and from then on every
 * second one is kept. The latest is always there.
 */
export class EvenSamples<T> {
  readonly #most: number;
  #kept: T[] = [];
  #latest: T | undefined;
  /** Of so many samples one is kept. */
  #every = 1;
  #count = 0;

  constructor(most: number = MOST) {
    this.#most = most;
  }

  add(sample: T): void {
    const isKept = this.#count++ % this.#every === 0;
    this.#latest = isKept ? undefined : sample;
    if (!isKept) return;
    this.#kept.push(sample);
    if (this.#kept.length < this.#most) return;
    // What was added last may go with the others of its kind, and is the latest nevertheless.
    if (this.#kept.length % 2 === 0) this.#latest = sample;
    this.#kept = this.#kept.filter((_, index) => index % 2 === 0);
    this.#every *= 2;
  }

  get all(): readonly T[] {
    return this.#latest === undefined ? this.#kept : [...this.#kept, this.#latest];
  }
}
