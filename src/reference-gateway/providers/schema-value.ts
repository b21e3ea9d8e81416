import { isObject, member } from "../../core/index.ts";

/** Characters of the prompt in a string. */
const STRING_LENGTH = 64;
/** Deeper parts of a schema stay empty. */
const MAX_DEPTH = 8;

/** An object that matches common simple schemas; strings repeat the prompt, so that the caller can predict them. */
export function objectFor(schema: unknown, prompt: string, deep = 0): Record<string, unknown> {
  const properties = member(schema, "properties");
  if (!isObject(properties) || deep > MAX_DEPTH) return {};
  const entries = Object.keys(properties).map((name) => [name, valueFor(properties[name], prompt, deep + 1)] as const);
  return Object.fromEntries(entries);
}

function valueFor(schema: unknown, prompt: string, deep: number): unknown {
  const choices = member(schema, "enum");
  if (Array.isArray(choices) && choices.length > 0) return choices[0];
  switch (member(schema, "type")) {
    case "integer":
      return 7;
    case "number":
      return 2.5;
    case "boolean":
      return true;
    case "array":
      return isObject(member(schema, "items")) && deep <= MAX_DEPTH
        ? [valueFor(member(schema, "items"), prompt, deep + 1)]
        : [];
    case "object":
      return objectFor(schema, prompt, deep);
    case "null":
      return null;
    default:
      return [...prompt].slice(0, STRING_LENGTH).join("");
  }
}
