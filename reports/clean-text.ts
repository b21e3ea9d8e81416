/**
 * Text that came from a gateway, made harmless for a reader's eyes: control characters become their pictures (U+2400 and
 * up), marks that turn or hide text are named, and lone surrogates, which no encoding can carry, become U+FFFD. Line
 * feeds and tabs stay.
 *
 * Escaping for HTML or XML is the renderer's business and comes after.
 */
export function visible(text: string): string {
  return text.replace(UNPLAIN, (character) => {
    const code = character.codePointAt(0) ?? 0;
    if (code >= 0xd800 && code <= 0xdfff) return "\uFFFD";
    if (code < 0x20) return String.fromCharCode(0x2400 + code);
    if (code === 0x7f) return "\u2421";
    return `⟨U+${code.toString(16).toUpperCase().padStart(4, "0")}⟩`;
  });
}

/** Controls, formats, halves of characters, what is not assigned, and separators that end a line for some readers. */
const UNPLAIN = /[^\n\t\P{C}]|[\p{Zl}\p{Zp}]/gu;

/**
 * The same on one line, and not too long.
 *
 * @param most UTF-16 units. What is far beyond is not even looked at, so that a giant costs nothing.
 */
export function oneLine(text: string, most = 400): string {
  return shorten(visible(text.slice(0, most * 4).replace(/\s+/g, " ")).trim(), most);
}

/** The same over several lines, and not too long. */
export function passage(text: string, most: number): string {
  return visible(shorten(text, most));
}

/** At most so many UTF-16 units, with a sign that something was cut. */
export function shorten(text: string, most: number): string {
  if (text.length <= most) return text;
  // A pair must not be torn apart: half of it is no character.
  const end = /[\uD800-\uDBFF]/.test(text[most - 2] ?? "") ? most - 2 : most - 1;
  return `${text.slice(0, end)}…`;
}
