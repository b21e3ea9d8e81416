/** A text with one layer of escapes undone, and the position of each of its characters in the original. */
export interface TextView {
  readonly text: string;
  /** Offset in the original of the character at `at`; the end maps to the end. */
  originalOf(at: number): number;
}

/** HTML character names, limited to characters that may occur in or next to a key. */
const NAMED: Readonly<Record<string, string>> = {
  ...{ amp: "&", lt: "<", gt: ">", quot: '"', apos: "'", sol: "/", bsol: "\\", plus: "+", equals: "=", colon: ":" },
  ...{ period: ".", comma: ",", lowbar: "_", num: "#", percnt: "%", excl: "!", ast: "*", commat: "@", dollar: "$" },
  ...{ semi: ";", lpar: "(", rpar: ")", lsqb: "[", rsqb: "]", lcub: "{", rcub: "}", vert: "|", quest: "?", Hat: "^" },
};
const BY_LETTER: Readonly<Record<string, string>> = { b: "\b", f: "\f", n: "\n", r: "\r", t: "\t" };

/** URLs: `%2D`. JSON and JavaScript: `\u002d`, `\x2d`, `\/`. HTML: `&#45;`, `&#x2d;`, `&amp;`. */
const ESCAPE =
  /%([\da-f]{2})|\\u([\da-f]{4})|\\x([\da-f]{2})|\\(["'\\/bfnrt])|&#x([\da-f]{1,6});?|&#(\d{1,7});?|&([a-z]{2,6});/gi;

/** The unchanged text as a view. */
export function viewOf(text: string): TextView {
  return { text, originalOf: (at) => at };
}

/**
 * Undoes one layer of escapes of all kinds, because an encoder may escape only some characters of a key.
 *
 * @returns `undefined` when there is nothing to undo.
 */
export function unescaped(view: TextView): TextView | undefined {
  const parts: string[] = [];
  // Where the offset between the two texts changes, in both.
  const at: number[] = [0];
  const from: number[] = [0];
  let copied = 0;
  let length = 0;
  for (const match of view.text.matchAll(ESCAPE)) {
    const character = characterOf(match);
    if (character === undefined) continue;
    parts.push(view.text.slice(copied, match.index), character);
    length += match.index - copied + character.length;
    copied = match.index + match[0].length;
    at.push(length - character.length, length);
    from.push(match.index, copied);
  }
  if (copied === 0) return undefined;
  parts.push(view.text.slice(copied));
  const offsetOf = (position: number) => {
    const index = lastAtMost(at, position);
    return (from[index] ?? 0) + position - (at[index] ?? 0);
  };
  return { text: parts.join(""), originalOf: (position) => view.originalOf(offsetOf(position)) };
}

function characterOf([, percent, unicode, byte, plain, hex, decimal, name]: RegExpMatchArray): string | undefined {
  const code = percent ?? unicode ?? byte ?? hex;
  if (code !== undefined) return fromCode(Number.parseInt(code, 16));
  if (plain !== undefined) return BY_LETTER[plain] ?? plain;
  if (decimal !== undefined) return fromCode(Number(decimal));
  return name === undefined ? undefined : NAMED[name];
}

/** One character of the view for each escape, so that no offset falls inside an escape. */
function fromCode(code: number): string {
  return String.fromCharCode(code <= 0xffff ? code : 0xfffd);
}

/** Index of the last number in an ascending list that is at most `max`. */
function lastAtMost(ascending: readonly number[], max: number): number {
  let low = 0;
  let high = ascending.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((ascending[middle] as number) <= max) low = middle;
    else high = middle - 1;
  }
  return low;
}
