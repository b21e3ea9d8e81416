import { isDeepStrictEqual } from "node:util";
import { isObject, member } from "../core/index.ts";

/** A field with white space that no serialiser writes. */
const fieldText = (name: string, value: unknown): string =>
  `${JSON.stringify(name)}\t : ${JSON.stringify(value, null, 1)}`;

/** Valid JSON that changes when it is parsed and serialised again. */
export function unusualJson(value: object): string {
  const fields = Object.entries(value).map(([name, inner]) => fieldText(name, inner));
  return `{\n ${fields.join(" ,\n\t")}\r\n}`;
}

/** How a body changed on its way: names of its fields, and whether an equal value arrived as different bytes. */
export interface BodyChange {
  readonly isRewritten: boolean;
  readonly changed: readonly string[];
  readonly added: readonly string[];
  readonly removed: readonly string[];
}

/**
 * Compares a body with what arrived.
 *
 * @param sent as `unusualJson` wrote it. If a field was replaced in the text, the white space of the others is unchanged.
 * @returns `undefined` if it is not a JSON object.
 */
export function bodyChange(sent: string, received: string): BodyChange | undefined {
  const before = parsed(sent);
  const after = parsed(received);
  if (!isObject(before) || !isObject(after)) return undefined;
  const names = Object.keys(before);
  const kept = names.filter((name) => isDeepStrictEqual(before[name], member(after, name)));
  const removed = names.filter((name) => !Object.hasOwn(after, name));
  const changed = names.filter((name) => !kept.includes(name) && !removed.includes(name));
  const added = Object.keys(after).filter((name) => !Object.hasOwn(before, name));
  const isSame = [...removed, ...changed, ...added].length === 0;
  const isRewritten = isSame
    ? sent !== received
    : kept.some((name) => !received.includes(fieldText(name, before[name])));
  return { isRewritten, changed, added, removed };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // Not JSON: such a body cannot be compared.
    return undefined;
  }
}
