/** Counts requests in flight, in one thread or over all that share its cell: a peak of sums is no sum of peaks. */
export class InFlightGauge {
  readonly #cell: Int32Array;

  /** @param cell one element, of a `SharedArrayBuffer` when threads are to be counted together. */
  constructor(cell: Int32Array = new Int32Array(1)) {
    this.#cell = cell;
  }

  get count(): number {
    return Atomics.load(this.#cell, 0);
  }

  /** @returns how many are in flight now, this one included. */
  enter(): number {
    return Atomics.add(this.#cell, 0, 1) + 1;
  }

  leave(): void {
    Atomics.sub(this.#cell, 0, 1);
  }
}
