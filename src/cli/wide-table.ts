// Escaped: the bundle is read as ASCII.
const RULE = /^[\u250c\u251c\u2514]/;
const TABLE = /^[\u250c\u251c\u2514\u2502]/;
const JUNCTION = /[\u252c\u253c\u2534]/;

/** Whether a line belongs to a table with a frame. */
export const isOfTable = (line: string): boolean => TABLE.test(line);

/**
 * Splits a framed table that is too wide for a terminal into several, one below the other, each with the first column:
 * otherwise the terminal would wrap every row.
 *
 * @param lines of the table, from its upper to its lower edge. @param columns of the terminal.
 */
export function splitTable(lines: readonly string[], columns: number): string[] {
  const rows = lines.map((line) =>
    RULE.test(line) ? line.slice(1, -1).split(JUNCTION) : line.slice(1, -1).split("│"),
  );
  const widths = (rows[0] ?? []).map((cell) => cell.length);
  const first = widths[0] ?? 0;
  const whole = widths.reduce((sum, width) => sum + width + 1, 1);
  // A cell contains a frame character: leave the table alone.
  if (whole <= columns || rows.some((cells) => cells.length !== widths.length)) return [...lines];
  const groups: number[][] = [];
  let used = Number.POSITIVE_INFINITY;
  for (let column = 1; column < widths.length; column++) {
    const width = (widths[column] ?? 0) + 1;
    if (used + width > columns) {
      groups.push([]);
      used = first + 2;
    }
    groups.at(-1)?.push(column);
    used += width;
  }
  return groups.flatMap((group) => lines.map((line, index) => rowOf(line, rows[index] ?? [], [0, ...group])));
}

/** A row with some of its cells, framed like the full row. */
function rowOf(line: string, cells: readonly string[], chosen: readonly number[]): string {
  const between = RULE.test(line) ? ({ "┌": "┬", "├": "┼", "└": "┴" }[line.charAt(0)] ?? "│") : "│";
  return line.charAt(0) + chosen.map((column) => cells[column] ?? "").join(between) + line.charAt(line.length - 1);
}
