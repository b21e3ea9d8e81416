/**
 * Text that came from a gateway, made harmless for a reader's eyes: control characters become their pictures (U+2400 and
 * up), marks that turn or hide text are named, and lone surrogates, which no encoding can carry, become U+FFFD. Line
 * feeds and tabs stay.
 *
 * Escaping for HTML or XML is the renderer's business and comes after.
 */
export function visible(text: string): string {
  return text
    .replace(CONTROLS, (character) => {
      const code = character.charCodeAt(0);
      if (code === 0x7f) return "\u2421";
      return code < 0x20 ? String.fromCharCode(0x2400 + code) : named(code);
    })
    .replace(TURNING, (character) => named(character.codePointAt(0) ?? 0))
    .replace(UNPAIRED, "\uFFFD");
}

/** The same on one line. */
export function oneLine(text: string): string {
  return visible(text.replace(/\s+/g, " ")).trim();
}

/** At most so many UTF-16 units, with a sign that something was cut. */
export function shorten(text: string, most: number): string {
  if (text.length <= most) return text;
  // A pair must not be torn apart: half of it is no character.
  const end = /[\uD800-\uDBFF]/.test(text[most - 2] ?? "") ? most - 2 : most - 1;
  return `${text.slice(0, end)}…`;
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const CONTROLS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g;
/** Bidirectional controls, zero-width and other invisible characters, and the noncharacters that XML forbids. */
const TURNING = /[\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ufffe\uffff]/g;
const UNPAIRED = /[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]/g;

const named = (code: number): string => `⟨U+${code.toString(16).toUpperCase().padStart(4, "0")}⟩`;
