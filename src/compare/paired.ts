import {
  deviation,
  differenceOfShares,
  type Interval,
  mean,
  quantile,
  resamples,
  seededRandom,
  tQuantile,
  wilson,
} from "../core/index.ts";

/** Resamples; enough that the error of an interval's end is far below its width. */
const RESAMPLES = 10_000;
/** Up to this many pairs, every assignment of signs is tried; above it, `RESAMPLES` are drawn. */
const MAX_EXACT = 16;
const DRAWN_FLIPS = 100_000;

/**
 * Interval of the mean of paired differences, by resampling whole pairs: requests in one block are not independent observations,
 * blocks are. Studentised, because the plain percentile interval of ten pairs is a fifth too narrow.
 *
 * @param confidence e.g. 0.9: each end is then wrong in 5 of 100 cases.
 * @returns a point if all differences are the same.
 */
export function pairedInterval(
  differences: readonly number[],
  { confidence, seed }: { confidence: number; seed: number },
): Interval {
  const count = differences.length;
  const middle = mean(differences);
  const error = deviation(differences) / Math.sqrt(count);
  if (!(error > 0)) return { low: middle, high: middle };
  const pivots: number[] = [];
  for (const drawn of resamples(count, RESAMPLES, seededRandom(seed))) {
    const pivot = pivotOf(drawn, differences, middle);
    if (Number.isFinite(pivot)) pivots.push(pivot);
  }
  pivots.sort((a, b) => a - b);
  const tail = (1 - confidence) / 2;
  return { low: middle - quantile(pivots, 1 - tail) * error, high: middle - quantile(pivots, tail) * error };
}

/** Distance of a resample's mean in units of its standard error. */
function pivotOf(drawn: Uint32Array, differences: readonly number[], middle: number): number {
  const count = drawn.length;
  let sum = 0;
  let squares = 0;
  for (const index of drawn) {
    const value = (differences[index] ?? 0) - middle;
    sum += value;
    squares += value * value;
  }
  const average = sum / count;
  const variance = (squares - count * average * average) / (count - 1);
  // All draws are the same pair: without any spread, this resample is ignored.
  return variance > 1e-24 ? average / Math.sqrt(variance / count) : Number.NaN;
}

/**
 * Two-sided sign-flip permutation test of the mean of paired differences: under the null hypothesis, each sign is
 * equally likely. Exact up to 16 pairs.
 */
export function signFlipP(differences: readonly number[], seed: number): number {
  const count = differences.length;
  const total = Math.abs(differences.reduce((sum, value) => sum + value, 0));
  // Sums in a different order differ in their last bits; without slack, the observed sum would not count itself.
  const bar = total - 1e-12 * Math.max(1, total);
  if (count <= MAX_EXACT) {
    let extreme = 0;
    const all = 2 ** count;
    for (let signs = 0; signs < all; signs++) {
      let sum = 0;
      for (let index = 0; index < count; index++) {
        const value = differences[index] ?? 0;
        sum += (signs >> index) & 1 ? -value : value;
      }
      if (Math.abs(sum) >= bar) extreme++;
    }
    return extreme / all;
  }
  const random = seededRandom(seed);
  let extreme = 1;
  for (let round = 0; round < DRAWN_FLIPS; round++) {
    const sum = differences.reduce((sofar, value) => sofar + (random() < 0.5 ? -value : value), 0);
    if (Math.abs(sum) >= bar) extreme++;
  }
  return extreme / (DRAWN_FLIPS + 1);
}

/** p-values with Holm's correction for multiple tests, in the given order. */
export function holm(values: readonly number[]): number[] {
  const order = values.map((value, index) => ({ value, index })).sort((a, b) => a.value - b.value);
  const corrected = new Array<number>(values.length).fill(1);
  let highest = 0;
  for (const [rank, { value, index }] of order.entries()) {
    highest = Math.max(highest, Math.min(1, value * (values.length - rank)));
    corrected[index] = highest;
  }
  return corrected;
}

/** Smallest change that this many pairs with this spread detect with 80 % power at 5 %, two-sided. */
export function detectableChange(spread: number, pairs: number): number {
  return ((tQuantile(0.975, pairs - 1) + tQuantile(0.8, pairs - 1)) * spread) / Math.sqrt(pairs);
}

/** Approximate number of pairs needed to show that a change at this distance from a bound lies on one side of it. */
export function pairsNeeded(spread: number, distance: number): number {
  return Math.ceil((((1.645 + 0.842) * spread) / distance) ** 2) + 2;
}

/** Minimum number of pairs with which the exact test can fall below 5 % after correction for this many figures. */
export function minPairsFor(figures: number): number {
  return Math.max(6, Math.ceil(1 + Math.log2(Math.max(1, figures) / 0.05)));
}

/** Newcombe's interval for the difference of two proportions, `b` minus `a`. */
export function newcombe(
  a: { count: number; of: number },
  b: { count: number; of: number },
  confidence: number,
): Interval {
  const measured = (counted: { count: number; of: number }) => ({
    share: counted.count / counted.of,
    ...wilson(counted, confidence),
  });
  return differenceOfShares(measured(a), measured(b));
}
