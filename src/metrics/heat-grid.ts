/** Rows per decade: neighbouring bounds differ by a quarter (10^0.1), too little to see in a drawing. */
export const ROWS_PER_DECADE = 10;
/** Maximum number of columns; then neighbours are merged, so that a long run takes as much space as a short one. */
const MAX_COLUMNS = 180;

/** Counts of durations over time, small enough to be stored for every phase. */
export interface Heat {
  /** Width of a column, s. */
  readonly everyS: number;
  /**
   * From the start of the phase, one text per column: `ROW:COUNT`, separated by blanks. Row r holds durations from 10^(r / 10)
   * up to 10^((r + 1) / 10) microseconds. Empty: nothing in this column.
   */
  readonly columns: string[];
}

/** Counts durations by the second and by their size on a logarithmic scale. Its size is bounded. */
export class HeatGrid {
  #everyS = 1;
  #columns: Map<number, number>[] = [];

  /** @param second whole seconds from the start. @param us duration; anything below a microsecond counts as one. */
  record(second: number, us: number): void {
    this.#add(second, Math.floor(Math.log10(us < 1 ? 1 : us) * ROWS_PER_DECADE), 1);
  }

  /** Adds the counts of another instance. */
  merge(other: Heat): void {
    for (const [index, column] of other.columns.entries())
      for (const [row, count] of readHeatColumn(column)) this.#add(index * other.everyS, row, count);
    // The counts of wider columns were added at their starts only, so ours must become as wide.
    while (this.#everyS < other.everyS) this.#halve();
  }

  #add(second: number, row: number, count: number): void {
    while (second >= this.#everyS * MAX_COLUMNS) this.#halve();
    const index = Math.floor(second / this.#everyS);
    while (this.#columns.length <= index) this.#columns.push(new Map());
    const column = this.#columns[index] as Map<number, number>;
    column.set(row, (column.get(row) ?? 0) + count);
  }

  #halve(): void {
    const before = this.#columns;
    this.#everyS *= 2;
    this.#columns = [];
    for (let index = 0; index < before.length; index += 2) {
      const joined = before[index] as Map<number, number>;
      for (const [row, count] of before[index + 1] ?? []) joined.set(row, (joined.get(row) ?? 0) + count);
      this.#columns.push(joined);
    }
  }

  /** @returns `undefined` if nothing was counted. */
  close(): Heat | undefined {
    if (this.#columns.length === 0) return undefined;
    const columns = this.#columns.map((column) =>
      [...column]
        .sort(([a], [b]) => a - b)
        .map(([row, count]) => `${row}:${count}`)
        .join(" "),
    );
    return { everyS: this.#everyS, columns };
  }
}

/** @returns row and count of each cell of a column in a record. */
export function readHeatColumn(column: string): (readonly [row: number, count: number])[] {
  if (column === "") return [];
  return column.split(" ").map((cell) => {
    const [row = 0, count = 0] = cell.split(":").map(Number);
    return [row, count] as const;
  });
}
