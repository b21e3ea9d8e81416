const CR = 13;
const ZERO = 48;
const ONE = 49;
const SPACE = 32;

/** Value of a header in a raw head; names in any letter case, repeated fields joined (RFC 9110, 5.3). */
export function headValue(head: string, pattern: RegExp): string | undefined {
  const first = pattern.exec(head);
  if (first === null) return undefined;
  const values: string[] = [];
  let rest = head;
  // A loop instead of recursion: a head has room for sixteen thousand fields of one name, which would overflow the stack.
  for (let found: RegExpExecArray | null = first; found !== null; found = pattern.exec(rest)) {
    values.push((found[1] ?? "").trim());
    rest = rest.slice(found.index + found[0].length);
  }
  return values.join(", ");
}

/** The pattern with which `headValue` finds a name. */
export function headPattern(name: string): RegExp {
  return new RegExp(`\\r\\n${name.replace(/[.*+?^$${}()|[\]\\]/g, "\\$&")}:[ \\t]*([^\\r\\n]*)`, "i");
}

/** Fields that determine the framing of a message; lower case, repeated ones joined. */
export interface Framing {
  length: string | undefined;
  coding: string | undefined;
  connection: string;
}

/**
 * Finds the framing fields in one pass over the lines. Three pattern searches for the same took a tenth of the work for a short
 * response.
 */
export function framingOf(head: string): Framing {
  const found: Framing = { length: undefined, coding: undefined, connection: "" };
  for (let at = head.indexOf("\r\n") + 2; at > 1 && at < head.length; ) {
    const end = head.indexOf("\r\n", at);
    const colon = head.indexOf(":", at);
    const size = colon - at;
    // Only names of these lengths are examined.
    if (size === 14 || size === 17 || size === 10) {
      const name = head.slice(at, colon).toLowerCase();
      const value = head.slice(colon + 1, end === -1 ? undefined : end).trim();
      if (name === "content-length") found.length = joined(found.length, value);
      else if (name === "transfer-encoding") found.coding = joined(found.coding, value.toLowerCase());
      else if (name === "connection") found.connection = joined(found.connection || undefined, value.toLowerCase());
    }
    if (end === -1) break;
    at = end + 2;
  }
  return found;
}

const joined = (before: string | undefined, value: string): string =>
  before === undefined ? value : `${before}, ${value}`;

/** Status of a head that starts with `HTTP/1.0 200 ` or similar, 100 to 599; 0 for any other. */
export function statusOf(head: string): number {
  const minor = head.charCodeAt(7);
  const after = head.charCodeAt(12);
  if (!head.startsWith("HTTP/1.") || (minor !== ZERO && minor !== ONE) || head.charCodeAt(8) !== SPACE) return 0;
  if (after !== SPACE && after !== CR) return 0;
  let status = 0;
  for (let at = 9; at < 12; at++) {
    const digit = head.charCodeAt(at) - ZERO;
    if (digit < 0 || digit > 9) return 0;
    status = status * 10 + digit;
  }
  return status >= 100 && status < 600 ? status : 0;
}

/** A length in digits; repetitions of the same value count as one length (RFC 9112, 6.3). */
export function lengthOf(text: string): number | undefined {
  if (/^\d+$/.test(text)) return Number(text);
  const values = new Set(text.split(",").map((value) => value.trim()));
  const [value = ""] = values;
  return values.size === 1 && /^\d+$/.test(value) ? Number(value) : undefined;
}
