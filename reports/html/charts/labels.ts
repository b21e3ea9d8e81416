/** Height of a row of labels, units of a drawing. */
export const LABEL_ROW = 14;

const BETWEEN = 8;

/** Width of a label of a drawing: an upper bound for the fonts of the style sheet at 11 units. */
export function textWidth(text: string): number {
  return text.length * 6.6;
}

export interface PlacedLabel {
  readonly text: string;
  /** What it names. */
  readonly at: number;
  /** Where the text begins. */
  readonly left: number;
  /** From the top. */
  readonly row: number;
}

/**
 * Puts labels into as many rows as it takes for none to touch another. Each begins at what it names, or ends at the right edge.
 *
 * @param labels in the order of their places.
 */
export function placeLabels(labels: readonly { readonly text: string; readonly at: number }[], right: number) {
  const ends: number[] = [];
  return labels.map(({ text, at }): PlacedLabel => {
    const left = Math.min(at + 3, right - textWidth(text));
    const free = ends.findIndex((end) => end + BETWEEN <= left);
    const row = free < 0 ? ends.length : free;
    ends[row] = left + textWidth(text);
    return { text, at, left, row };
  });
}

/** Rows that placed labels take. */
export function rowsOf(labels: readonly PlacedLabel[]): number {
  return Math.max(0, ...labels.map(({ row }) => row + 1));
}
