/** The values that a numeric option takes. */
export interface Range {
  readonly min: number;
  readonly max: number;
  /** Fractions are allowed. */
  readonly fractions?: boolean;
}

/** Stands for a number outside the range of its option until all options are checked: only then are their names known. */
export class OutOfRange {
  readonly range: Range;
  readonly value: number;

  constructor(range: Range, value: number) {
    this.range = range;
    this.value = value;
  }
}

/** Limits a numeric option to a range. A command never gets a value outside it: `checkOptions` rejects the command line. */
export function within(range: Range) {
  const { min, max, fractions = false } = range;
  const isOutside = (value: unknown): value is number =>
    typeof value === "number" &&
    (value < min || value > max || !(fractions || Number.isInteger(value) || Number.isNaN(value)));
  // The type is that of an option that was checked.
  return {
    coerce: (value: number) => (isOutside(value) ? (new OutOfRange(range, value) as unknown as number) : value),
  };
}
