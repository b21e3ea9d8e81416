/**
 * Counts requests in flight, in one thread or in all threads that share its cell: the sum of peaks is not the peak of the sum.
 */
export class InFlightGauge {
  readonly #cell: Int32Array;

  /** @param cell one element; of a `SharedArrayBuffer` to count several threads together. */
  constructor(cell: Int32Array = new Int32Array(1)) {
    this.#cell = cell;
  }

  get count(): number {
    return Atomics.load(this.#cell, 0);
  }

  /** @returns the number in flight now, including this one. */
  enter(): number {
    return Atomics.add(this.#cell, 0, 1) + 1;
  }

  leave(): void {
    Atomics.sub(this.#cell, 0, 1);
  }
}
