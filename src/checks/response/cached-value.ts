/** Maximum number of large values cached over all responses: the different readings that a judge is using now. */
const MAX_LARGE = 4;

/**
 * A value computed on first use. Large ones are dropped when others are used, and computed again when needed. Weak references
 * are not enough: they keep everything alive until the judge that reads all responses has returned.
 */
export class CachedValue<T> {
  /** Cached large values, the latest last. Runs in one process merely share this cache. */
  static readonly #large: CachedValue<unknown>[] = [];
  readonly #make: () => T;
  #held: { readonly value: T } | undefined;

  constructor(make: () => T) {
    this.#make = make;
  }

  /** @param isLarge whether the value may be dropped. */
  get(isLarge: (value: T) => boolean): T {
    if (this.#held !== undefined) return this.#held.value;
    const held = { value: this.#make() };
    this.#held = held;
    if (isLarge(held.value)) {
      CachedValue.#large.push(this);
      if (CachedValue.#large.length > MAX_LARGE) {
        const oldest = CachedValue.#large.shift();
        if (oldest !== undefined) oldest.#held = undefined;
      }
    }
    return held.value;
  }

  /** Drops the value; the next `get` computes it again. */
  forget(): void {
    this.#held = undefined;
  }
}
