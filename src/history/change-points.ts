import { deviation, mean, seededRandom, shuffled, tCumulative, tQuantile } from "../core/index.ts";

/** Minimum number of values in a judged series, and on each side of a change: with fewer, chance looks like a change. */
export const MIN_RUNS = 8;
export const MIN_SIDE = 3;

/** Of the t test, over all possible changes and all series together. */
const ALPHA = 0.01;
/** Of the permutation test: with 8 values, no arrangement is rarer than 2 of 56. */
const PERMUTATION_ALPHA = 0.05;
const PERMUTATIONS = 2_000;
/** The same values give the same result. */
const SEED = 1;

/** Where a series changed. */
export interface Change {
  /** Of the first value after the change. */
  readonly index: number;
  /** Of the t test, corrected for multiple tests. */
  readonly p: number;
}

/**
 * Finds where the mean of a series changed, by binary segmentation: the clearest split divides the series, and both sides are
 * searched in the same way.
 *
 * @param tests number of series tested together.
 */
export function changesOf(values: readonly number[], tests: number): Change[] {
  const change = clearestChange(values, tests);
  if (change === undefined) return [];
  const { index } = change;
  return [
    ...changesOf(values.slice(0, index), tests * DEEPER),
    change,
    ...changesOf(values.slice(index), tests * DEEPER).map((later) => ({ ...later, index: later.index + index })),
  ];
}

/** Each level doubles the number of segments and gives all of them half of the error rate. */
const DEEPER = 4;

/**
 * The split with the largest t statistic, if two tests agree that it is not chance. Otherwise one in either half: a past
 * incident must not hide a later change.
 *
 * The t test detects a clear change after few values and is corrected for every split and series tested; the permutation test
 * does not depend on the distribution of the values.
 */
function clearestChange(values: readonly number[], tests: number): Change | undefined {
  const count = values.length;
  if (count < 2 * MIN_SIDE) return undefined;
  const { index, t } = largestSplit(values);
  const p = corrected(t, count, tests);
  if (p <= ALPHA && permutationP(values, t) <= PERMUTATION_ALPHA) return { index, p };
  if (count < 2 * MIN_RUNS) return undefined;
  const middle = Math.floor(count / 2);
  const first = clearestChange(values.slice(0, middle), tests * DEEPER);
  const last = clearestChange(values.slice(middle), tests * DEEPER);
  if (last === undefined || (first !== undefined && first.p < last.p)) return first;
  return { ...last, index: last.index + middle };
}

/**
 * Smallest step in the newest values, {@link MIN_SIDE} of them, that the t test finds in 80 of 100 cases.
 *
 * @param changes of the values: the noise is what remains around the mean of each segment between two.
 */
export function detectableStep(values: readonly number[], changes: readonly Change[], tests: number): number {
  const count = values.length;
  const freedom = count - 2;
  const bounds = [0, ...changes.map(({ index }) => index), count];
  const noise = bounds.slice(1).flatMap((end, stretch) => {
    const some = values.slice(bounds[stretch], end);
    const middle = mean(some);
    return some.map((value) => value - middle);
  });
  const alpha = ALPHA / (2 * placesOf(count) * tests);
  const quantiles = tQuantile(1 - alpha, freedom) + tQuantile(0.8, freedom);
  return quantiles * deviation(noise) * Math.sqrt(1 / MIN_SIDE + 1 / (count - MIN_SIDE));
}

function placesOf(count: number): number {
  return count - 2 * MIN_SIDE + 1;
}

function corrected(t: number, count: number, tests: number): number {
  return Math.min(1, 2 * tCumulative(-t, count - 2) * placesOf(count) * tests);
}

interface Split {
  readonly index: number;
  readonly t: number;
}

/** The split whose halves differ most, by the two-sample t statistic; infinite if neither half varies. */
function largestSplit(values: readonly number[]): Split {
  const count = values.length;
  // Centred, so that the sums of squares lose no digits.
  const middle = mean(values);
  const centred = values.map((value) => value - middle);
  const squares = centred.reduce((sum, value) => sum + value * value, 0);
  let best: Split = { index: MIN_SIDE, t: 0 };
  let left = 0;
  for (let index = 1; index <= count - MIN_SIDE; index++) {
    left += centred[index - 1] ?? 0;
    if (index < MIN_SIDE) continue;
    const between = (left * left * count) / (index * (count - index));
    if (!(between > squares * 1e-12)) continue;
    const within = Math.max(0, squares - between) / (count - 2);
    const t = within > between * 1e-12 ? Math.sqrt(between / within) : Number.POSITIVE_INFINITY;
    if (t > best.t) best = { index, t };
  }
  return best;
}

/** How often values in random order have a split at least as large. */
function permutationP(values: readonly number[], t: number): number {
  const random = seededRandom(SEED);
  let arranged = values;
  // Sums in a different order differ in their last bits.
  const bar = Number.isFinite(t) ? t * (1 - 1e-9) : t;
  let extreme = 1;
  for (let round = 0; round < PERMUTATIONS; round++) {
    arranged = shuffled(arranged, random);
    if (largestSplit(arranged).t >= bar) extreme++;
  }
  return extreme / (PERMUTATIONS + 1);
}
