/**
 * Quoted for a shell, on one line. Characters that are not printable are written as escaped bytes, so that a terminal neither
 * interprets them nor reorders the line, and a report does not replace them.
 */
export function quoted(text: string): string {
  if (!UNPLAIN.test(text)) return `'${text.replaceAll("'", `'\\''`)}'`;
  const escaped = text
    .replace(/['\\]/g, "\\$&")
    .replace(new RegExp(UNPLAIN, "gu"), (character) =>
      [...Buffer.from(character)].map((byte) => `\\x${byte.toString(16).padStart(2, "0")}`).join(""),
    );
  return `$'${escaped}'`;
}

const UNPLAIN = /[\p{C}\p{Zl}\p{Zp}]/u;

/** A word of a command line: quoted only if it must be. */
export function shellWord(text: string): string {
  return /^[A-Za-z0-9_./:=@%+,-]+$/.test(text) ? text : quoted(text);
}
