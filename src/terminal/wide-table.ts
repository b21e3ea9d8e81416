import { wrap } from "./progress/fit.ts";

// Escaped: the bundle is read as ASCII.
const RULE = /^[\u250c\u251c\u2514]/;
const TABLE = /^[\u250c\u251c\u2514\u2502]/;
const JUNCTION = /[\u252c\u253c\u2534]/;

/** Whether a line belongs to a table with a frame. */
export const isOfTable = (line: string): boolean => TABLE.test(line);

/** Text narrower than this does not get a line break. */
const MIN_TEXT_COLUMNS = 16;

interface Table {
  readonly lines: readonly string[];
  /** Cells of each line, with their padding. */
  readonly rows: readonly (readonly string[])[];
  readonly widths: readonly number[];
}

/**
 * Makes a framed table fit a terminal, which would otherwise wrap every row: a last column of text is wrapped in its cells. If that
 * is not enough, the table is split into several, one below the other, each with the first column.
 *
 * @param lines of the table, from its upper to its lower edge. @param columns of the terminal.
 */
export function fitTable(lines: readonly string[], columns: number): string[] {
  const table = read(lines);
  // A cell contains a frame character: leave the table alone.
  if (widthOf(table.widths) <= columns || table.rows.some((cells) => cells.length !== table.widths.length))
    return [...lines];
  const { widths } = table;
  return (
    wrapLastColumn(table, columns) ??
    groupsOf(widths, columns).flatMap((group) => {
      const part = read(lines.map((line, index) => rowOf(line, table.rows[index] ?? [], [0, ...group])));
      return wrapLastColumn(part, columns) ?? part.lines;
    })
  );
}

function read(lines: readonly string[]): Table {
  const rows = lines.map((line) =>
    RULE.test(line) ? line.slice(1, -1).split(JUNCTION) : line.slice(1, -1).split("│"),
  );
  return { lines, rows, widths: (rows[0] ?? []).map((cell) => cell.length) };
}

const widthOf = (widths: readonly number[]): number => widths.reduce((sum, width) => sum + width + 1, 1);

/** The columns of each narrower table, without the first column, which all of them have. */
function groupsOf(widths: readonly number[], columns: number): number[][] {
  const groups: number[][] = [];
  let used = Number.POSITIVE_INFINITY;
  for (let column = 1; column < widths.length; column++) {
    const width = (widths[column] ?? 0) + 1;
    if (used + width > columns) {
      groups.push([]);
      used = (widths[0] ?? 0) + 2;
    }
    groups.at(-1)?.push(column);
    used += width;
  }
  return groups;
}

/** @returns `undefined` if the other columns leave no room for text, or if the cells of the last one cannot be wrapped. */
function wrapLastColumn({ lines, rows, widths }: Table, columns: number): string[] | undefined {
  const last = widths.length - 1;
  // Of the column itself, without its frame.
  const room = columns - (widthOf(widths) - (widths[last] ?? 0));
  if (room >= (widths[last] ?? 0)) return [...lines];
  if (room < MIN_TEXT_COLUMNS) return undefined;
  const cells = rows.map((row) => row[last] ?? "");
  const isTooLong = (word: string) => word.length > room - 2;
  // Colours would have to begin and end in every line.
  if (cells.some((cell) => cell.includes("\u001b") || (!cell.startsWith("─") && cell.split(" ").some(isTooLong))))
    return undefined;
  return lines.flatMap((line, index) => {
    const row = rows[index] ?? [];
    const cell = cells[index] ?? "";
    if (RULE.test(line)) return [rowOf(line, row.with(last, cell.slice(0, room)), row.keys())];
    const texts = wrap(cell.trim(), room - 2, "").split("\n");
    return texts.map((text, part) => {
      const others = part === 0 ? row : widths.map((width) => " ".repeat(width));
      return rowOf(line, others.with(last, ` ${text} `.padEnd(room)), row.keys());
    });
  });
}

/** A row with some of its cells, framed like the full row. */
function rowOf(line: string, cells: readonly string[], chosen: Iterable<number>): string {
  const between = RULE.test(line) ? ({ "┌": "┬", "├": "┼", "└": "┴" }[line.charAt(0)] ?? "│") : "│";
  return line.charAt(0) + [...chosen].map((column) => cells[column] ?? "").join(between) + line.charAt(line.length - 1);
}
