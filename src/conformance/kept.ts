/** A value that is made when first asked for, and made again where it was large and the memory was needed meanwhile. */
export class Kept<T> {
  readonly #make: () => T;
  #held: { readonly value: T } | undefined;
  #weak: WeakRef<{ readonly value: T }> | undefined;

  constructor(make: () => T) {
    this.#make = make;
  }

  /** @param isLarge whether the collector may take it. */
  get(isLarge: (value: T) => boolean): T {
    const known = this.#held ?? this.#weak?.deref();
    if (known !== undefined) return known.value;
    const made = { value: this.#make() };
    if (isLarge(made.value)) this.#weak = new WeakRef(made);
    else this.#held = made;
    return made.value;
  }
}
