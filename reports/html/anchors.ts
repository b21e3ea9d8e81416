/** Generates unique page ids from names; the same name always gets the same id. */
export class Anchors {
  readonly #byName = new Map<string, string>();
  readonly #taken = new Set<string>();

  /** @param kind keeps namespaces apart, e.g. `requirement` and `check`. */
  of(kind: string, name: string): string {
    const known = this.#byName.get(`${kind} ${name}`);
    if (known !== undefined) return known;
    const slug = name.replace(/[^A-Za-z0-9]+/g, "-").replace(/^-|-$/g, "");
    const base = `${kind}-${slug.slice(0, 80)}`;
    let id = base;
    for (let copy = 2; this.#taken.has(id); copy++) id = `${base}-${copy}`;
    this.#taken.add(id);
    this.#byName.set(`${kind} ${name}`, id);
    return id;
  }
}
