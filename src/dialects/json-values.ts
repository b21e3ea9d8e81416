import { parseJson } from "./reply/parse-json.ts";

/** One complete JSON object inside a longer text, with its byte offsets. */
export interface JsonPiece {
  readonly value: unknown;
  readonly start: number;
  readonly end: number;
}

const QUOTE = 34;
const BACKSLASH = 92;
const OPEN = 123;
const CLOSE = 125;

/**
 * Finds the complete JSON objects of a body that has no event-stream framing: one object, one per line, one after another, or
 * the members of one long array. Nested objects belong to the outermost.
 *
 * @returns pieces in order, and how many bytes outside of them are neither blank nor `,`, `[` or `]`.
 */
export function scanJsonObjects(body: Uint8Array): {
  readonly pieces: readonly JsonPiece[];
  readonly strayBytes: number;
} {
  const decoder = new TextDecoder();
  const pieces: JsonPiece[] = [];
  let strayBytes = 0;
  let depth = 0;
  let start = 0;
  let inString = false;
  for (let at = 0; at < body.length; at++) {
    const byte = body[at] ?? 0;
    if (depth > 0 && inString) {
      if (byte === BACKSLASH) at++;
      else if (byte === QUOTE) inString = false;
    } else if (depth > 0 && byte === QUOTE) {
      inString = true;
    } else if (byte === OPEN) {
      if (depth === 0) start = at;
      depth++;
    } else if (byte === CLOSE && depth > 0) {
      depth--;
      if (depth > 0) continue;
      const value = parseJson(decoder.decode(body.subarray(start, at + 1)));
      if (value === undefined) strayBytes += at + 1 - start;
      else pieces.push({ value, start, end: at + 1 });
    } else if (depth === 0 && !isFiller(byte)) {
      strayBytes++;
    }
  }
  if (depth > 0) strayBytes += body.length - start;
  return { pieces, strayBytes };
}

/** Blank, comma, or the brackets of an enclosing array. */
function isFiller(byte: number): boolean {
  return byte <= 32 || byte === 44 || byte === 91 || byte === 93;
}
