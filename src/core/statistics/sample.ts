import type { Random } from "./random.ts";

export function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** Standard deviation of a sample (n - 1). */
export function deviation(values: readonly number[]): number {
  const middle = mean(values);
  return Math.sqrt(values.reduce((sum, value) => sum + (value - middle) ** 2, 0) / (values.length - 1));
}

/** Linear between order statistics (type 7, as in R and NumPy). */
export function quantile(sorted: readonly number[], share: number): number {
  const place = (sorted.length - 1) * share;
  const below = Math.floor(place);
  const low = sorted[below] ?? Number.NaN;
  const high = sorted[Math.min(below + 1, sorted.length - 1)] ?? Number.NaN;
  return low + (high - low) * (place - below);
}

/**
 * The resamples of a bootstrap: each is `count` indexes below `count`, drawn with replacement.
 *
 * @returns the same array each time, with new contents.
 */
export function* resamples(count: number, times: number, random: Random): Generator<Uint32Array> {
  const drawn = new Uint32Array(count);
  for (let round = 0; round < times; round++) {
    for (let index = 0; index < count; index++) drawn[index] = Math.floor(random() * count);
    yield drawn;
  }
}

/** A copy in random order. */
export function shuffled<T>(values: readonly T[], random: Random): T[] {
  const copy = [...values];
  for (let last = copy.length - 1; last > 0; last--) {
    const other = Math.floor(random() * (last + 1));
    const moved = copy[last] as T;
    copy[last] = copy[other] as T;
    copy[other] = moved;
  }
  return copy;
}
