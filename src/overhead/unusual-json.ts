import { isDeepStrictEqual } from "node:util";
import { isObject, member } from "../core/index.ts";

/** A field in white space that no serialiser writes. */
const fieldText = (name: string, value: unknown): string =>
  `${JSON.stringify(name)}\t : ${JSON.stringify(value, null, 1)}`;

/** Valid JSON that whoever parses it and writes it again writes otherwise. */
export function unusualJson(value: object): string {
  const fields = Object.entries(value).map(([name, inner]) => fieldText(name, inner));
  return `{\n ${fields.join(" ,\n\t")}\r\n}`;
}

/** What became of a body on its way: names of its fields, and whether what has the same value came in other bytes. */
export interface BodyChange {
  readonly isRewritten: boolean;
  readonly changed: readonly string[];
  readonly added: readonly string[];
  readonly removed: readonly string[];
}

/**
 * Compares a body with what came of it.
 *
 * @param sent as `unusualJson` wrote it. A field that was exchanged in the text leaves the white space of the others.
 * @returns `undefined` for what is no JSON object.
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
    // No JSON is an answer, too: such a body cannot be compared.
    return undefined;
  }
}
