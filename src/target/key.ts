import type { Secret } from "../http/recorder/index.ts";

/** An API key: its value can only be used for requests. Printing, logging or serialising it shows its name. */
export class Key {
  /** `valid`, `revoked`, `limited.0.key`, … */
  readonly name: string;
  readonly #value: string;

  constructor(name: string, value: string) {
    this.name = name;
    this.#value = value;
  }

  /** The value itself, for a header of a request. */
  reveal(): string {
    return this.#value;
  }

  /** For a redactor. */
  secret(): Secret {
    return { name: `key.${this.name}`, value: this.#value };
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
