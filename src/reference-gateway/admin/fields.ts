import { isObject } from "../../core/index.ts";

/** A request that the admin interface cannot carry out. */
export class AdminError extends Error {
  readonly statusCode: number;

  constructor(statusCode: number, message: string) {
    super(message);
    this.statusCode = statusCode;
  }
}

/** Reads the fields of a JSON body; an unknown field is an error, because it is a spelling mistake. */
export class Fields {
  readonly #body: Record<string, unknown>;

  constructor(body: unknown, known: readonly string[]) {
    if (!isObject(body)) throw new AdminError(400, "a JSON object is expected");
    for (const name of Object.keys(body)) {
      if (!known.includes(name)) throw new AdminError(400, `${name}: unknown field; known are ${known.join(", ")}`);
    }
    this.#body = body;
  }

  has(name: string): boolean {
    return this.#body[name] !== undefined;
  }

  text(name: string): string | undefined {
    const value = this.#body[name];
    if (value === undefined || typeof value === "string") return value;
    throw new AdminError(400, `${name}: a string is expected`);
  }

  flag(name: string): boolean | undefined {
    const value = this.#body[name];
    if (value === undefined || typeof value === "boolean") return value;
    throw new AdminError(400, `${name}: true or false is expected`);
  }

  whole(name: string): number | undefined {
    const value = this.#body[name];
    if (value === undefined || (typeof value === "number" && Number.isSafeInteger(value))) return value;
    throw new AdminError(400, `${name}: a whole number is expected`);
  }

  /** A whole number, or null to remove the limit. */
  wholeOrNull(name: string): number | null | undefined {
    return this.#body[name] === null ? null : this.whole(name);
  }

  object(name: string): unknown {
    return this.#body[name];
  }

  texts(name: string): string[] | undefined {
    const value = this.#body[name];
    if (value === undefined) return undefined;
    if (Array.isArray(value) && value.every((item) => typeof item === "string")) return value;
    throw new AdminError(400, `${name}: an array of strings is expected`);
  }
}
