/**
 * Parses JSON within bounds. Like `reply-defect.ts`, this file imports nothing from the project, because the k6 scripts use a
 * generated copy of it.
 */

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
