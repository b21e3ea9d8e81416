import { isDeepStrictEqual } from "node:util";
import { isObject } from "../../../src/core/index.ts";

/** Maximum length of a value in a message, characters. */
const MAX_SHOWN = 60;

/**
 * The first place where a JSON value differs from what was expected, and how; `undefined` if they are equal. The order of an
 * object's members does not matter.
 */
export function differenceFrom(expected: unknown, actual: unknown, at = ""): string | undefined {
  if (isDeepStrictEqual(expected, actual)) return undefined;
  const isList = Array.isArray(expected) && Array.isArray(actual);
  if (!isList && !(isObject(expected) && isObject(actual)))
    return `${at === "" ? "" : `${at}: `}${shown(actual)} instead of ${shown(expected)}`;
  const [before, after] = [expected, actual] as [Record<string, unknown>, Record<string, unknown>];
  for (const name of new Set([...Object.keys(before), ...Object.keys(after)])) {
    const place = `${at}/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`;
    if (!Object.hasOwn(after, name)) return `${place}: lost`;
    if (!Object.hasOwn(before, name)) return `${place}: added`;
    const inner = differenceFrom(before[name], after[name], place);
    if (inner !== undefined) return inner;
  }
  return `${at}: another value`;
}

function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? "nothing";
  return text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}… (${text.length} characters)` : text;
}
