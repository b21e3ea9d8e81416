/** Characters that control a terminal, that reorder or hide text, or that some readers treat as line ends. */
const UNPLAIN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;
const CONTROL = /[^\n\t\P{Cc}]/gu;
/** Starts the colours of our output. */
const ESCAPE = "\u001b";

const hexOf = (unit: string): string => unit.charCodeAt(0).toString(16).padStart(4, "0");
const nameOf = (character: string): string => `⟨U+${hexOf(character).toUpperCase()}⟩`;

/**
 * A value as JSON in which every control, format and separator character is escaped. `JSON.stringify` escapes only
 * those up to U+001F, and terminals interpret U+0080 to U+009F as well. The value stays the same.
 *
 * @param indent spaces for each level; default: everything on one line.
 */
export function escapedJson(value: unknown, indent = 0): string {
  return JSON.stringify(value, null, indent).replace(UNPLAIN, (character) =>
    character === "\n" ? character : character.replace(/[\s\S]/g, (unit) => `\\u${hexOf(unit)}`),
  );
}

/** Text without colours of ours for a terminal: every control character in it is foreign, and replaced by its name. */
export const plainText = (text: string): string => terminalText(text).replaceAll(ESCAPE, nameOf(ESCAPE));

/** Text for a terminal in which foreign control characters are replaced by their names. */
export function terminalText(text: string): string {
  return text.replace(CONTROL, (character) => (character === ESCAPE ? character : nameOf(character)));
}
