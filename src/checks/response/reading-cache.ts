/** Maximum number of large readings that are cached across all responses. */
const MAX_LARGE = 4;
/**
 * Number of packed responses with a small body whose readings are held: a judge goes from one to the next, or compares a few.
 */
const MAX_BODIES = 16;

interface Forgettable {
  /** Drops what was computed; it is computed again when it is next needed. */
  forget(): void;
}

/**
 * The readings that a run holds and may drop. A WeakRef would not do: its target stays alive until the current job ends,
 * which is the whole of a synchronous judge.
 */
export class ReadingCache {
  readonly #large: Forgettable[] = [];
  readonly #bodies: Forgettable[] = [];

  holdLarge(value: Forgettable): void {
    hold(this.#large, value, MAX_LARGE);
  }

  /** Holds the readings of a packed body. */
  holdBody(readings: Forgettable): void {
    if (!this.#bodies.includes(readings)) hold(this.#bodies, readings, MAX_BODIES);
  }
}

/** Adds a value, and drops the one that was added first if there are too many. */
function hold(held: Forgettable[], value: Forgettable, max: number): void {
  held.push(value);
  if (held.length > max) held.shift()?.forget();
}

/** A value computed on first use. Large ones are dropped when others are used, and computed again when needed. */
export class CachedValue<T> {
  readonly #make: () => T;
  #held: { readonly value: T } | undefined;

  constructor(make: () => T) {
    this.#make = make;
  }

  /** @param isLarge whether the value may be dropped. */
  get(cache: ReadingCache, isLarge: (value: T) => boolean): T {
    if (this.#held !== undefined) return this.#held.value;
    const held = { value: this.#make() };
    this.#held = held;
    if (isLarge(held.value)) cache.holdLarge(this);
    return held.value;
  }

  forget(): void {
    this.#held = undefined;
  }
}
