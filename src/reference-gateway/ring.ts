/** The newest entries of an endless series, oldest first. Adding never grows it beyond its capacity. */
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

  *[Symbol.iterator](): Iterator<T> {
    const start = this.#entries.length < this.#capacity ? 0 : this.#next;
    for (let offset = 0; offset < this.#entries.length; offset += 1) {
      yield this.#entries[(start + offset) % this.#entries.length] as T;
    }
  }
}
