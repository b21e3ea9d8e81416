/** The median by rank, the upper one of two; 0 without values. */
export function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}

/** Spearman's correlation of values with their order, −1 (falling) to 1 (rising). */
export function rankCorrelation(values: readonly number[]): number {
  const count = values.length;
  const order = values.map((value, index) => ({ value, index })).sort((a, b) => a.value - b.value);
  const sum = order.reduce((all, { index }, rank) => all + (rank - index) ** 2, 0);
  return 1 - (6 * sum) / (count * (count * count - 1));
}
