import { isUtf8 } from "node:buffer";
import { type Refusal, refusal } from "../refusal.ts";

/** Maximum nesting of a body. Real requests stay below ten; a recursive parser fails at some thousands. */
const DEEPEST = 64;

/** The text and value of a body, or why it could not be read. */
export type BodyReading =
  | { readonly text: string; readonly value: unknown; readonly mutation?: undefined }
  | { readonly text: string; readonly value?: undefined; readonly mutation: Refusal };

/** @param bytes the whole body as received. */
export function readJsonBody(bytes: Buffer): BodyReading {
  if (bytes.length === 0) return unreadable("", "The request has no body.");
  if (!isUtf8(bytes)) return unreadable("", "The request body is not UTF-8.");
  const text = bytes.toString("utf8");
  if (tooDeep(bytes)) return unreadable(text, `The request body is nested deeper than ${DEEPEST} levels.`);
  try {
    return { text, value: JSON.parse(text) as unknown };
  } catch {
    // The parser's own message quotes parts of the body, which may hold a secret.
    return unreadable(text, "The request body is not valid JSON.");
  }
}

function unreadable(text: string, message: string): BodyReading {
  return { text, mutation: refusal("invalid_request", { message }) };
}

/** Counts brackets outside strings, on bytes: cheaper than walking the parsed value, and possible before parsing. */
function tooDeep(bytes: Buffer): boolean {
  let depth = 0;
  let inString = false;
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at];
    if (inString) {
      if (byte === 0x5c) at += 1;
      else if (byte === 0x22) inString = false;
    } else if (byte === 0x22) inString = true;
    else if (byte === 0x7b || byte === 0x5b) {
      depth += 1;
      if (depth > DEEPEST) return true;
    } else if (byte === 0x7d || byte === 0x5d) depth -= 1;
  }
  return false;
}
