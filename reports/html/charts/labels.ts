/** Height of a row of labels, drawing units. */
export const LABEL_ROW = 14;

const BETWEEN = 8;

/** Width of a label in a drawing: an upper bound for the fonts of the style sheet at 11 units. */
export function textWidth(text: string): number {
  return text.length * 6.6;
}

export interface PlacedLabel {
  readonly text: string;
  /** The x position of what it labels. */
  readonly at: number;
  /** The x position where the text begins. */
  readonly left: number;
  /** Counted from the top. */
  readonly row: number;
}

/**
 * Puts labels into as many rows as needed to avoid overlaps. Each begins at its position or ends at the right edge.
 *
 * @param labels in the order of their positions.
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

/** Number of rows that placed labels need. */
export function rowsOf(labels: readonly PlacedLabel[]): number {
  return Math.max(0, ...labels.map(({ row }) => row + 1));
}
