import { Histogram } from "./histogram.ts";

/** Rows per octave: neighbouring bounds differ by at most 0.8 %. */
const ROWS_PER_OCTAVE_LOG = 7;
const ROWS_PER_OCTAVE = 2 ** ROWS_PER_OCTAVE_LOG;
const ROWS = 25 * ROWS_PER_OCTAVE;
/** 36 minutes; longer durations count as this. */
const MAX_US = 2 ** 31 - 1;
/** Initial width of a block, µs. */
const FIRST_WIDTH_US = 25_000;
/** Maximum number of blocks; then neighbours are merged, so that a long run takes as much space as a short one. */
const MAX_BLOCKS = 128;

/** Transfer format for another thread or process. Each block: its index, then row, count, row, count, … */
export interface StoredBlocks {
  readonly widthUs: number;
  readonly blocks: readonly (readonly number[])[];
}

/** Values of one block: their number, and the number at or below a bound. */
export interface BelowOfBlock {
  readonly count: number;
  readonly below: number;
}

/**
 * Counts durations by the time at which they were measured, in at most 128 blocks of equal width, and by their size: enough to
 * see how strongly neighbours in time correlate. Counting increments a number, as long as time moves forward.
 */
export class BlockCounts {
  #widthUs = FIRST_WIDTH_US;
  #blocks = new Map<number, number[]>();
  /** Counts of the current block, by row; and its non-zero rows. */
  readonly #open = new Uint32Array(ROWS);
  #rows: number[] = [];
  #index = -1;

  /** @param us duration. @param atUs when it was measured, from the start of the phase; negative counts as 0. */
  record(us: number, atUs: number): void {
    const index = atUs > 0 ? Math.floor(atUs / this.#widthUs) : 0;
    if (index !== this.#index) this.#turn(index);
    this.#add(rowOf(us), 1);
  }

  #add(row: number, count: number): void {
    const before = this.#open[row] ?? 0;
    if (before === 0) this.#rows.push(row);
    this.#open[row] = before + count;
  }

  /** Closes the current block and opens another. */
  #turn(index: number): void {
    this.#close();
    let turned = index;
    while (turned >= MAX_BLOCKS) {
      this.#halve();
      turned = Math.floor(turned / 2);
    }
    this.#index = turned;
    this.#addAll(this.#blocks.get(turned) ?? []);
    this.#blocks.delete(turned);
  }

  #close(): void {
    if (this.#rows.length > 0)
      this.#blocks.set(
        this.#index,
        this.#rows.flatMap((row) => [row, this.#open[row] ?? 0]),
      );
    for (const row of this.#rows) this.#open[row] = 0;
    this.#rows = [];
    this.#index = -1;
  }

  #addAll(cells: readonly number[]): void {
    for (let at = 0; at < cells.length; at += 2) this.#add(cells[at] ?? 0, cells[at + 1] ?? 0);
  }

  #halve(): void {
    const before = this.#blocks;
    this.#blocks = new Map();
    this.#widthUs *= 2;
    for (let index = 0; index < MAX_BLOCKS; index += 2) {
      this.#addAll(before.get(index) ?? []);
      this.#addAll(before.get(index + 1) ?? []);
      this.#index = index / 2;
      this.#close();
    }
  }

  store(): StoredBlocks {
    this.#close();
    return { widthUs: this.#widthUs, blocks: [...this.#blocks].map(([index, cells]) => [index, ...cells]) };
  }

  /** Adds the counts of another instance with the same start. */
  merge({ widthUs, blocks }: StoredBlocks): void {
    this.#close();
    while (this.#widthUs < widthUs) this.#halve();
    for (const [index = 0, ...cells] of blocks) {
      this.#turn(Math.floor((index * widthUs) / this.#widthUs));
      this.#addAll(cells);
    }
    this.#close();
  }

  /** The same without what was measured outside a period, µs from the start of the phase, to whole blocks. */
  between(fromUs: number, toUs: number): BlockCounts {
    const { blocks } = this.store();
    const part = new BlockCounts();
    part.merge({
      widthUs: this.#widthUs,
      blocks: blocks
        .map(([index = 0, ...cells]) => [index - Math.floor(fromUs / this.#widthUs), ...cells])
        .filter(([index = 0]) => index >= 0 && index < Math.ceil((toUs - fromUs) / this.#widthUs)),
    });
    return part;
  }

  /** All values, each as the middle of its row: accurate to 0.4 %. */
  histogram(): Histogram {
    const histogram = new Histogram();
    for (const [, ...cells] of this.store().blocks)
      for (let at = 0; at < cells.length; at += 2) histogram.record(middleOf(cells[at] ?? 0), cells[at + 1]);
    return histogram;
  }

  /**
   * @param shares between 0 and 1, exclusive.
   * @returns for each share the blocks in order, including empty ones in between, counted below the row bound nearest to the
   * quantile.
   */
  atQuantiles(shares: readonly number[]): BelowOfBlock[][] {
    this.#close();
    const indices = [...this.#blocks.keys()];
    if (indices.length === 0) return [];
    const [first, last] = [Math.min(...indices), Math.max(...indices)];
    return this.#rowsNearest(shares).map((row) =>
      Array.from({ length: last - first + 1 }, (_, index) => countBelow(this.#blocks.get(first + index) ?? [], row)),
    );
  }

  #rowsNearest(shares: readonly number[]): number[] {
    const totals = new Float64Array(ROWS);
    let total = 0;
    for (const cells of this.#blocks.values()) {
      for (let at = 0; at < cells.length; at += 2) {
        const [row = 0, count = 0] = [cells[at], cells[at + 1]];
        totals[row] = (totals[row] ?? 0) + count;
        total += count;
      }
    }
    return shares.map((share) => {
      let [below, row] = [totals[0] ?? 0, 0];
      // Moves to the next row as long as its bound is at least as close.
      while (row + 1 < ROWS && below + (totals[row + 1] ?? 0) / 2 <= share * total) below += totals[++row] ?? 0;
      return row;
    });
  }
}

function countBelow(cells: readonly number[], row: number): BelowOfBlock {
  let [count, below] = [0, 0];
  for (let at = 0; at < cells.length; at += 2) {
    count += cells[at + 1] ?? 0;
    if ((cells[at] ?? 0) <= row) below += cells[at + 1] ?? 0;
  }
  return { count, below };
}

/** In the first two octaves of rows, a row is a microsecond wide; above them, `ROWS_PER_OCTAVE` rows make an octave. */
function rowOf(us: number): number {
  const whole = us >= MAX_US ? MAX_US : us > 0 ? Math.round(us) : 0;
  const shift = Math.max(0, 31 - Math.clz32(whole) - ROWS_PER_OCTAVE_LOG);
  return shift * ROWS_PER_OCTAVE + (whole >> shift);
}

/** Microseconds in the middle of a row. */
function middleOf(row: number): number {
  const shift = Math.max(0, Math.floor(row / ROWS_PER_OCTAVE) - 1);
  return (row - shift * ROWS_PER_OCTAVE + (shift === 0 ? 0 : 0.5)) * 2 ** shift;
}
