import { normalQuantile } from "./student-t.ts";

export interface Interval {
  readonly low: number;
  readonly high: number;
}

/**
 * Wilson's interval of a share; also valid for small counts and for none.
 *
 * @param of how many were counted; need not be whole if they count as fewer independent ones.
 */
export function wilson({ count, of }: { count: number; of: number }, confidence: number): Interval {
  if (of === 0) return { low: 0, high: 1 };
  const z = normalQuantile((1 + confidence) / 2);
  const share = count / of;
  const middle = share + z ** 2 / (2 * of);
  const spread = z * Math.sqrt((share * (1 - share)) / of + z ** 2 / (4 * of ** 2));
  const scale = 1 + z ** 2 / of;
  // Exactly 0 and 1 at the ends: with a rounding error, the share could lie outside its interval.
  return {
    low: count === 0 ? 0 : Math.max(0, (middle - spread) / scale),
    high: count === of ? 1 : Math.min(1, (middle + spread) / scale),
  };
}

/** A share with its interval. */
export interface MeasuredShare extends Interval {
  readonly share: number;
}

/**
 * Newcombe's interval for the difference of two shares, `b` minus `a` (his method 10). It stays valid when nothing or everything was
 * counted, where the spread between blocks would be zero.
 */
export function differenceOfShares(a: MeasuredShare, b: MeasuredShare): Interval {
  const difference = b.share - a.share;
  return {
    low: difference - Math.hypot(b.share - b.low, a.high - a.share),
    high: difference + Math.hypot(b.high - b.share, a.share - a.low),
  };
}

/**
 * How many must be counted until a bound lies outside the interval of a share, if the share stays the same.
 *
 * @param from the smallest number to consider.
 * @returns rounded up to two digits; Infinity if the share is too close to the bound for any practical number.
 */
export function countToDecide(
  share: number,
  bound: number,
  { from, confidence }: { from: number; confidence: number },
): number {
  return countUntil(from, (of) => {
    const { low, high } = wilson({ count: share * of, of }, confidence);
    return bound < low || high < bound;
  });
}

/**
 * The smallest count at which `isDecided` returns true; it must then be true for all larger counts too (bisection).
 *
 * @returns more than `from`, rounded up to two digits; Infinity if no practical number does.
 */
export function countUntil(from: number, isDecided: (of: number) => boolean): number {
  let [open, decided] = [from, Math.max(1, from) * 2];
  while (decided < MAX_COUNT && !isDecided(decided)) [open, decided] = [decided, decided * 2];
  if (decided >= MAX_COUNT) return Number.POSITIVE_INFINITY;
  while (decided - open > 1) {
    const middle = Math.floor((open + decided) / 2);
    if (isDecided(middle)) decided = middle;
    else open = middle;
  }
  const unit = 10 ** Math.max(0, Math.floor(Math.log10(decided)) - 1);
  return Math.ceil(decided / unit) * unit;
}

/** Larger counts are reported as Infinity. */
const MAX_COUNT = 1e9;
