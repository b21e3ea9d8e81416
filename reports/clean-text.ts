/**
 * Makes gateway text safe to display: control characters become their pictures (U+2400 and up), characters that reorder or hide
 * text are replaced by their names, and lone surrogates, which no encoding can represent, become U+FFFD. Line feeds and tabs
 * are kept.
 *
 * Renderers escape the result for HTML or XML afterwards.
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

/** Control and format characters, surrogates, unassigned code points, and separators that some viewers treat as line ends. */
const UNPLAIN = /[^\n\t\P{C}]|[\p{Zl}\p{Zp}]/gu;

/**
 * Like `visible`, but on one line and shortened.
 *
 * @param most UTF-16 units. Text far beyond this is never scanned, so huge inputs cost nothing.
 */
export function oneLine(text: string, most = 400): string {
  return shorten(visible(text.slice(0, most * 4).replace(/\s+/g, " ")).trim(), most);
}

/** Like `visible`, on several lines, and shortened. */
export function passage(text: string, most: number): string {
  return visible(shorten(text, most));
}

/** At most this many UTF-16 units, with a mark if something was cut. */
export function shorten(text: string, most: number): string {
  if (text.length <= most) return text;
  // Do not split a surrogate pair.
  const end = /[\uD800-\uDBFF]/.test(text[most - 2] ?? "") ? most - 2 : most - 1;
  const space = text.lastIndexOf(" ", end);
  return space > end - MAX_WORD ? `${text.slice(0, space)} …` : `${text.slice(0, end)}…`;
}

/** A longer word is cut, UTF-16 units. */
const MAX_WORD = 24;
