/** An API key: its value can be put on the wire and nowhere else. Printing, logging or serialising it shows its name. */
export class Key {
  /** `valid`, `revoked`, `limited.0.key`, … */
  readonly name: string;
  readonly #value: string;

  constructor(name: string, value: string) {
    this.name = name;
    this.#value = value;
  }

  /** The value itself, for a header of a request or for the redactor. */
  reveal(): string {
    return this.#value;
  }

  toString(): string {
    return `[key.${this.name}]`;
  }

  toJSON(): string {
    return this.toString();
  }

  [Symbol.for("nodejs.util.inspect.custom")](): string {
    return this.toString();
  }
}
