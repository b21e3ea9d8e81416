import Table from "cli-table3";

/** The name of a text column, or of a right-aligned numeric one. */
export type Column = string | { readonly figures: string };

export function figures(...names: readonly string[]): Column[] {
  return names.map((name) => ({ figures: name }));
}

/** A framed table for a terminal. */
export function terminalTable(columns: readonly Column[], rows: readonly (readonly (string | number)[])[]): string {
  const table = new Table({
    head: columns.map((column) => (typeof column === "string" ? column : column.figures)),
    style: { head: [], border: [], compact: true },
    colAligns: columns.map((column) => (typeof column === "string" ? "left" : "right")),
  });
  table.push(...rows.map((row) => [...row]));
  return table.toString();
}
