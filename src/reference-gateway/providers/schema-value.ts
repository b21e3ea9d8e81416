import { isObject, listOf, member } from "../../core/index.ts";

/** Below this depth, only required properties are generated, so that a recursive schema terminates. */
const MAX_DEPTH = 8;
const MAX_DEPTH_REQUIRED = 32;

/** Values of string formats (JSON Schema 2020-12, validation, 7.3). */
const FORMATS: Readonly<Record<string, string>> = {
  date: "2026-01-31",
  time: "12:00:00Z",
  "date-time": "2026-01-31T12:00:00Z",
  duration: "PT1H",
  email: "someone@example.test",
  hostname: "example.test",
  ipv4: "192.0.2.1",
  ipv6: "2001:db8::1",
  uri: "https://example.test/",
  uuid: "00000000-0000-4000-8000-000000000000",
};

/**
 * An object that is valid for a JSON Schema. Strings repeat the whole prompt, so that the caller can predict them. Not followed:
 * `pattern`, `not`, `if`, `dependentSchemas` and the like.
 */
export function objectFor(schema: unknown, prompt: string): Record<string, unknown> {
  const value = new SchemaValue(schema, prompt).of(schema, 0);
  return isObject(value) ? value : {};
}

class SchemaValue {
  readonly #root: unknown;
  readonly #prompt: string;

  constructor(root: unknown, prompt: string) {
    this.#root = root;
    this.#prompt = prompt;
  }

  of(written: unknown, depth: number): unknown {
    const schema = this.#resolved(written);
    if (!isObject(schema)) return this.#prompt;
    if ("const" in schema) return schema["const"];
    const choices = schema["enum"];
    if (Array.isArray(choices) && choices.length > 0) return choices[0];
    switch (typeOf(schema)) {
      case "integer":
        return numberFor(schema, 7, 1);
      case "number":
        return numberFor(schema, 2.5, 0.5);
      case "boolean":
        return true;
      case "null":
        return null;
      case "array":
        return this.#array(schema, depth);
      case "object":
        return this.#object(schema, depth);
      default:
        return this.#string(schema);
    }
  }

  /** Follows `$ref` within the document, takes the first alternative, and merges `allOf`. */
  #resolved(written: unknown, follows = 0): unknown {
    if (!isObject(written) || follows > MAX_DEPTH) return written;
    const { $ref, anyOf, oneOf, allOf, ...own } = written;
    const parts = [
      ...(typeof $ref === "string" ? [this.#at($ref)] : []),
      ...[anyOf, oneOf].flatMap((choices) => (Array.isArray(choices) ? choices.slice(0, 1) : [])),
      ...(Array.isArray(allOf) ? allOf : []),
    ];
    return parts.reduce((merged: unknown, part) => merge(merged, this.#resolved(part, follows + 1)), own);
  }

  #at(ref: string): unknown {
    const path = ref.startsWith("#") ? ref.slice(1).split("/").slice(1) : ["$defs", ref];
    return path.reduce<unknown>((at, name) => member(at, decodePointer(name)), this.#root);
  }

  #object(schema: Record<string, unknown>, depth: number): Record<string, unknown> {
    const properties = isObject(schema["properties"]) ? schema["properties"] : {};
    const required = Array.isArray(schema["required"]) ? schema["required"].map(String) : [];
    const optional = depth <= MAX_DEPTH ? Object.keys(properties) : [];
    const names = depth > MAX_DEPTH_REQUIRED ? [] : [...new Set([...optional, ...required])];
    return Object.fromEntries(names.map((name) => [name, this.of(properties[name], depth + 1)] as const));
  }

  #array({ items, prefixItems, minItems }: Record<string, unknown>, depth: number): unknown[] {
    if (depth > MAX_DEPTH_REQUIRED) return [];
    const prefix = Array.isArray(prefixItems) ? prefixItems.map((item) => this.of(item, depth + 1)) : [];
    const least = typeof minItems === "number" ? minItems : 0;
    const length = Math.max(least, isObject(items) && depth <= MAX_DEPTH ? 1 : 0);
    const rest = Array.from({ length: Math.max(0, length - prefix.length) }, () => this.of(items, depth + 1));
    return [...prefix, ...rest];
  }

  #string({ format, minLength, maxLength }: Record<string, unknown>): string {
    const known = typeof format === "string" ? FORMATS[format] : undefined;
    if (known !== undefined) return known;
    const letters = [...this.#prompt];
    const text = typeof maxLength === "number" ? letters.slice(0, maxLength) : letters;
    return typeof minLength === "number" ? text.join("").padEnd(minLength, ".") : text.join("");
  }
}

function typeOf(schema: Record<string, unknown>): unknown {
  const { type } = schema;
  if (Array.isArray(type)) return type.find((one) => one !== "null") ?? "null";
  if (type !== undefined) return type;
  return "properties" in schema ? "object" : "items" in schema || "prefixItems" in schema ? "array" : "string";
}

/** A preferred number, or the nearest one within the bounds. */
function numberFor(schema: Record<string, unknown>, preferred: number, step: number): number {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf } = schema;
  const at = (bound: unknown, otherwise: number) => (typeof bound === "number" ? bound : otherwise);
  const least = Math.max(at(minimum, -Infinity), at(exclusiveMinimum, -Infinity) + step);
  const most = Math.min(at(maximum, Infinity), at(exclusiveMaximum, Infinity) - step);
  const value = Math.min(Math.max(preferred, least), most);
  return typeof multipleOf === "number" && multipleOf > 0 ? Math.ceil(value / multipleOf) * multipleOf : value;
}

/** The second schema in addition to the first. */
function merge(first: unknown, second: unknown): unknown {
  if (!isObject(first) || !isObject(second)) return isObject(first) ? first : second;
  const properties = { ...asObject(first["properties"]), ...asObject(second["properties"]) };
  const required = [...listOf(first["required"]), ...listOf(second["required"])];
  return {
    ...second,
    ...first,
    ...(Object.keys(properties).length > 0 ? { properties } : {}),
    ...(required.length > 0 ? { required } : {}),
  };
}

const asObject = (value: unknown): Record<string, unknown> => (isObject(value) ? value : {});

/** A token of a JSON Pointer (RFC 6901, 4). */
const decodePointer = (token: string): string => token.replaceAll("~1", "/").replaceAll("~0", "~");
