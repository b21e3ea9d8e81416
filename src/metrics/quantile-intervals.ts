import { incompleteBeta, NORMAL_DEVIATIONS, shareInflation } from "../core/index.ts";
import type { BelowOfBlock, BlockCounts } from "./block-counts.ts";
import type { Histogram } from "./histogram.ts";

export const QUANTILE_SHARES = { p50: 0.5, p90: 0.9, p95: 0.95, p99: 0.99, p999: 0.999 } as const;
export type QuantileName = keyof typeof QUANTILE_SHARES;

/** Ends of an interval that contains the true quantile in 95 of 100 runs, milliseconds. `null`: too few samples. */
export type QuantileIntervals = Readonly<Record<QuantileName, [low: number, high: number] | null>>;

/** Probability that an end of an interval is wrong. */
const TAIL = 0.025;
/** Lower bound of the inflation: removing a trend may bring it below 1, but lower values than this are not reliable. */
const MIN_INFLATION = 0.5;
/** Variance of a count above which it is treated as normal. */
const MANY = 2_000;
/** Independent values almost never show a variance inflation above this: the values are correlated. */
const CLEAR_INFLATION = 2;

/**
 * Intervals of quantiles by order statistics, for the effective number of samples: correlated neighbours in time count for
 * fewer.
 *
 * @param blocks the same values, by time.
 */
export function quantileIntervals(histogram: Histogram, blocks: BlockCounts): QuantileIntervals {
  let maxInflation = 1;
  const blocksAt = blocks.atQuantiles(Object.values(QUANTILE_SHARES));
  const entries = (Object.keys(QUANTILE_SHARES) as QuantileName[]).map((name, index) => {
    const share = QUANTILE_SHARES[name];
    const inflation = inflationOf(blocksAt[index] ?? []);
    // The few values beyond a high quantile may not show their correlation; the others do.
    if (inflation > CLEAR_INFLATION) maxInflation = Math.max(maxInflation, inflation);
    const effectiveCount = Math.min(histogram.count / maxInflation, histogram.count / inflation);
    const isSupported = share ** effectiveCount <= TAIL && (1 - share) ** effectiveCount <= TAIL;
    return [name, isSupported ? intervalOf(histogram, share, histogram.count / inflation) : null] as const;
  });
  return Object.fromEntries(entries) as QuantileIntervals;
}

/** By what factor a share of all values varies more than with the same number of independent values. */
function inflationOf(blocks: readonly BelowOfBlock[]): number {
  const inflation = shareInflation(blocks.map(({ count, below }) => ({ count, part: below })));
  return inflation === undefined ? 1 : Math.max(MIN_INFLATION, inflation);
}

function intervalOf(histogram: Histogram, share: number, effectiveCount: number): [number, number] {
  const { count, maxUs } = histogram;
  // Fractions of a rank are rounded outwards.
  const atRank = (rank: number) => Math.min(histogram.quantileUs(rank / count), maxUs) / 1_000;
  const scale = count / effectiveCount;
  return [
    atRank(Math.max(1, Math.floor(rankWith(share, effectiveCount, 1 - TAIL) * scale))),
    atRank(Math.ceil(rankWith(share, effectiveCount, TAIL) * scale)),
  ];
}

/**
 * The fractional rank whose value is below the quantile with a probability: the share of all values below rank r has the
 * distribution Beta(r, n + 1 - r).
 */
function rankWith(share: number, effectiveCount: number, probability: number): number {
  const variance = effectiveCount * share * (1 - share);
  if (variance > MANY)
    return effectiveCount * share - Math.sign(probability - 0.5) * NORMAL_DEVIATIONS * Math.sqrt(variance);
  let [low, high] = [0, effectiveCount + 1];
  for (let step = 0; step < 30; step++) {
    const middle = (low + high) / 2;
    if (incompleteBeta(share, middle, effectiveCount + 1 - middle) > probability) low = middle;
    else high = middle;
  }
  return low;
}
