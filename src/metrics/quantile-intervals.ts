import { incompleteBeta, NORMAL_DEVIATIONS, shareInflation } from "../core/index.ts";
import type { BelowOfBlock, BlockCounts } from "./block-counts.ts";
import type { Histogram } from "./histogram.ts";

export const QUANTILE_SHARES = { p50: 0.5, p90: 0.9, p95: 0.95, p99: 0.99, p999: 0.999 } as const;
export type QuantileName = keyof typeof QUANTILE_SHARES;

/** Ends of an interval that holds the true quantile in 95 of 100 runs, milliseconds. `null`: the samples do not support one. */
export type QuantileIntervals = Readonly<Record<QuantileName, [low: number, high: number] | null>>;

/** Each end of an interval is wrong in so many cases. */
const TAIL = 0.025;
/** A trend that was taken out may make a sum more exact than chance alone, but not by more than it is sure to. */
const MIN_INFLATION = 0.5;
/** Variance of a count beyond which it is normal. */
const MANY = 2_000;
/** What chance alone hardly ever makes it look like. */
const CLEARLY = 2;

/**
 * Intervals of quantiles by order statistics, of as many samples as they are worth: neighbours in time that go together count
 * for fewer.
 *
 * @param blocks the same values, by time.
 */
export function quantileIntervals(histogram: Histogram, blocks: BlockCounts): QuantileIntervals {
  let clearly = 1;
  const blocksAt = blocks.atQuantiles(Object.values(QUANTILE_SHARES));
  const entries = (Object.keys(QUANTILE_SHARES) as QuantileName[]).map((name, index) => {
    const share = QUANTILE_SHARES[name];
    const inflation = inflationOf(blocksAt[index] ?? []);
    // Of the few values beyond a high quantile it may not show that they go together; of the others it does.
    if (inflation > CLEARLY) clearly = Math.max(clearly, inflation);
    const worth = Math.min(histogram.count / clearly, histogram.count / inflation);
    const isSupported = share ** worth <= TAIL && (1 - share) ** worth <= TAIL;
    return [name, isSupported ? intervalOf(histogram, share, histogram.count / inflation) : null] as const;
  });
  return Object.fromEntries(entries) as QuantileIntervals;
}

/** By how much more a share of all values varies than that of as many independent ones. */
function inflationOf(blocks: readonly BelowOfBlock[]): number {
  const inflation = shareInflation(blocks.map(({ count, below }) => ({ count, part: below })));
  return inflation === undefined ? 1 : Math.max(MIN_INFLATION, inflation);
}

function intervalOf(histogram: Histogram, share: number, worth: number): [number, number] {
  const { count, maxUs } = histogram;
  // Fractions of a rank are rounded outwards.
  const atRank = (rank: number) => Math.min(histogram.quantileUs(rank / count), maxUs) / 1_000;
  const scale = count / worth;
  return [
    atRank(Math.max(1, Math.floor(rankWith(share, worth, 1 - TAIL) * scale))),
    atRank(Math.ceil(rankWith(share, worth, TAIL) * scale)),
  ];
}

/**
 * The rank, fractions included, whose value lies below the quantile with a probability: the share of all values below the one of
 * rank r has the distribution Beta(r, n + 1 - r).
 */
function rankWith(share: number, worth: number, probability: number): number {
  const variance = worth * share * (1 - share);
  if (variance > MANY) return worth * share - Math.sign(probability - 0.5) * NORMAL_DEVIATIONS * Math.sqrt(variance);
  let [low, high] = [0, worth + 1];
  for (let step = 0; step < 30; step++) {
    const middle = (low + high) / 2;
    if (incompleteBeta(share, middle, worth + 1 - middle) > probability) low = middle;
    else high = middle;
  }
  return low;
}
