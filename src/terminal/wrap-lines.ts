import { fitTable, isOfTable } from "./wide-table.ts";

/** A command or an item of YAML to paste, on a line of its own: if the terminal wraps it, a selection joins it again. */
const TO_PASTE = /^ *(?:curl |gauntlet |- \{ )/;
const COLOUR = /\p{Cc}\[[\d;]*m/gu;

const plain = (text: string): string => text.replace(COLOUR, "");
const widthOf = (text: string): number => plain(text).length;

/** Makes a text fit a terminal: lines are wrapped at spaces and keep their indent, tables are made to fit. */
export function wrapLines(text: string, columns: number): string {
  const lines: string[] = [];
  let table: string[] = [];
  const endTable = () => {
    lines.push(...fitTable(table, columns));
    table = [];
  };
  for (const line of text.split("\n")) {
    if (isOfTable(line)) {
      table.push(line);
      continue;
    }
    endTable();
    const indent = /^ */.exec(line)?.[0] ?? "";
    const fits = widthOf(line) <= columns || TO_PASTE.test(plain(line));
    lines.push(fits ? line : indent + wrapWords(line.slice(indent.length), columns, indent));
  }
  endTable();
  return lines.join("\n");
}

/** The text as it is, or made to fit where it goes to a terminal. */
export function fitted(text: string, stream: { readonly isTTY?: boolean; readonly columns?: number }): string {
  return stream.isTTY === true ? wrapLines(text, stream.columns || 80) : text;
}

function wrapWords(text: string, columns: number, indent: string): string {
  let length = indent.length;
  let lines = "";
  for (const word of text.split(" ")) {
    const width = widthOf(word);
    const fits = length + width + 1 <= columns;
    lines += length === indent.length ? word : fits ? ` ${word}` : `\n${indent}${word}`;
    length = fits ? length + width + (length === indent.length ? 0 : 1) : indent.length + width;
  }
  return lines;
}
