/** One complete JSON object inside a longer text, with its byte offsets. */
export interface JsonPiece {
  readonly value: unknown;
  readonly start: number;
  readonly end: number;
}

/**
 * Maximum nesting. RFC 8259, 9, allows a limit; without one, a body of a million brackets parses but then overflows whatever
 * walks through it.
 */
const DEEPEST = 512;
/** Maximum number of values in one text. Half a million empty objects take twenty times their length in memory. */
const MAX_VALUES = 250_000;

/** Parses JSON; `undefined` means "not JSON" (no JSON text parses to it), or too deeply nested or too many values to use. */
export function parseJson(text: string): unknown {
  if (isBeyondUse(text)) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    // Not being JSON is a valid result here, not an error.
    return undefined;
  }
}

const QUOTE = 34;
const BACKSLASH = 92;
const OPEN = 123;
const CLOSE = 125;
const COMMA = 44;
const OPEN_LIST = 91;
const CLOSE_LIST = 93;

/** Whether a text has more values, or deeper ones, than the limits: they would take many times its length in memory. */
export function isBeyondUse(text: string): boolean {
  // Closing takes as many characters as opening.
  if (text.length < DEEPEST * 2) return false;
  let depth = 0;
  let values = 0;
  let inString = false;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === BACKSLASH && inString) at++;
    else if (code === QUOTE) inString = !inString;
    else if (inString) continue;
    else if (code === OPEN || code === OPEN_LIST) {
      if (++depth > DEEPEST) return true;
    } else if (code === COMMA) {
      if (++values > MAX_VALUES) return true;
    } else if (code === CLOSE || code === CLOSE_LIST) depth--;
  }
  return false;
}

/** Minimum length of a text that is scanned, characters: whatever a shorter one contains takes little memory. */
const MIN_SCANNED_CHARACTERS = 65_536;

/** Whether a text is too large or too deeply nested to parse it within the bounds of memory. */
export function hasTooManyValues(text: string): boolean {
  return text.length > MIN_SCANNED_CHARACTERS && isBeyondUse(text);
}

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
