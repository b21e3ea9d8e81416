/** Large values that are kept, of all answers together: what a judge looks at right now, in its different readings. */
const MAX_LARGE = 4;

/**
 * A value that is made when first asked for. Large ones are let go when others are asked for, and made again: weak references
 * would do for less, but they hold on to everything until the judge that looks at all answers has come to its end.
 */
export class CachedValue<T> {
  /** Large ones that are held, the latest last. A cache: runs in one process only take turns in it. */
  static readonly #large: CachedValue<unknown>[] = [];
  readonly #make: () => T;
  #held: { readonly value: T } | undefined;

  constructor(make: () => T) {
    this.#make = make;
  }

  /** @param isLarge whether the value may be let go. */
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

  /** Lets the value go; it is made again when it is asked for. */
  forget(): void {
    this.#held = undefined;
  }
}
