/** More than a report can show: five hours with one sample per second. */
const MAX_SAMPLES = 18_000;

/**
 * Evenly spaced samples of a run of any length: when there are too many, every second one is dropped, and the interval doubles.
 * The latest is always kept.
 */
export class EvenSamples<T> {
  readonly #max: number;
  #kept: T[] = [];
  #latest: T | undefined;
  /** One in this many samples is kept. */
  #every = 1;
  #count = 0;

  constructor(max: number = MAX_SAMPLES) {
    this.#max = max;
  }

  add(sample: T): void {
    const isKept = this.#count++ % this.#every === 0;
    this.#latest = isKept ? undefined : sample;
    if (!isKept) return;
    this.#kept.push(sample);
    if (this.#kept.length < this.#max) return;
    // The newest sample may be dropped with the others and is still the latest.
    if (this.#kept.length % 2 === 0) this.#latest = sample;
    this.#kept = this.#kept.filter((_, index) => index % 2 === 0);
    this.#every *= 2;
  }

  get all(): readonly T[] {
    return this.#latest === undefined ? this.#kept : [...this.#kept, this.#latest];
  }
}
