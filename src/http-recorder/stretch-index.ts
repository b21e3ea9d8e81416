/** Characters that a first look goes by. */
const GRAM = 4;
const BITS_PER_CHARACTER = 4;
const HASHES = 1 << (GRAM * BITS_PER_CHARACTER);

/**
 * Tells which of many stretches of text occur in a text by one pass over it. Most texts hold none of them, and a search
 * for each took a third of the processor time of a run.
 */
export class StretchIndex<Owner> {
  /** Stretches by the hash of their first characters. */
  readonly #buckets: (readonly { readonly text: string; readonly owner: Owner }[] | undefined)[] = new Array(HASHES);
  /** Owners of stretches that are too short to be looked up: they may be anywhere. */
  readonly #anywhere = new Set<Owner>();

  add(text: string, owner: Owner): void {
    if (text.length < GRAM) {
      this.#anywhere.add(owner);
      return;
    }
    let hash = 0;
    for (let at = 0; at < GRAM; at++) hash = next(hash, text.charCodeAt(at));
    this.#buckets[hash] = [...(this.#buckets[hash] ?? []), { text, owner }];
  }

  /** @returns owners that have a stretch in the text, and those that may have one. */
  ownersIn(text: string): Set<Owner> {
    const owners = new Set(this.#anywhere);
    let hash = 0;
    for (let at = 0; at < text.length; at++) {
      hash = next(hash, text.charCodeAt(at));
      const bucket = this.#buckets[hash];
      if (bucket === undefined) continue;
      const start = at - GRAM + 1;
      for (const stretch of bucket) if (start >= 0 && text.startsWith(stretch.text, start)) owners.add(stretch.owner);
    }
    return owners;
  }
}

/** A hash of the last four characters: what came before them has been shifted out. */
function next(hash: number, code: number): number {
  return ((hash << BITS_PER_CHARACTER) ^ code) & (HASHES - 1);
}
