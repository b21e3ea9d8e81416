/** The newest entries of an endless series, oldest first. Never exceeds its capacity. */
export class Ring<T> {
  readonly #entries: T[] = [];
  readonly #capacity: number;
  #next = 0;

  /** @param capacity entries that are kept; 1 or more. */
  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  add(entry: T): void {
    this.#entries[this.#next] = entry;
    this.#next = (this.#next + 1) % this.#capacity;
  }

  /** @returns the newest entries, at most `count`, oldest first. */
  newest(count: number): T[] {
    const size = this.#entries.length;
    const length = Math.min(count, size);
    // The next entry goes after the newest one, full or not.
    const start = this.#next - length + size;
    return Array.from({ length }, (_none, offset) => this.#entries[(start + offset) % size] as T);
  }

  *[Symbol.iterator](): Iterator<T> {
    const start = this.#entries.length < this.#capacity ? 0 : this.#next;
    for (let offset = 0; offset < this.#entries.length; offset += 1) {
      yield this.#entries[(start + offset) % this.#entries.length] as T;
    }
  }
}
