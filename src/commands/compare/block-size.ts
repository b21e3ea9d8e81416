import { formatCount } from "../../core/index.ts";
import { planOf, type Workload } from "../../load/index.ts";

/** Blocks of a round: both builds, and the first one again. */
export const BLOCKS = 3;

/** Quantiles, and the sample size below which a block's own quantile has no 97.5 % upper bound. */
export const QUANTILES = [
  ["p50", 0.5, 6],
  ["p95", 0.95, 72],
  ["p99", 0.99, 368],
] as const;

/** Blocks have different numbers of requests of a kind: one in 700 has fewer than the mean by more standard deviations than this. */
const STANDARD_DEVIATIONS = 3;

type Load = Pick<Workload, "arrivals" | "mix" | "warmupS">;

interface RarestKind {
  /** Requests that a block measures on average. */
  readonly mean: number;
  /** Variance of that number as a share of the mean. */
  readonly dispersion: number;
}

/** The kind of requests that a block has fewest of; `undefined` if the arrivals have no planned number of requests. */
function rarestKind({ arrivals, mix, warmupS }: Load): RarestKind | undefined {
  const { requests, durationS } = arrivals === undefined ? {} : planOf(arrivals);
  if (requests === undefined) return undefined;
  const measured = durationS === undefined ? requests : (requests * Math.max(0, durationS - warmupS)) / durationS;
  const weights = mix.reduce((sum, { weight }) => sum + weight, 0);
  const share = Math.min(...mix.map(({ weight }) => weight)) / weights;
  // Kinds are drawn at random; Poisson arrivals have a random number of requests as well.
  return { mean: measured * share, dispersion: arrivals?.kind === "poisson" ? 1 : 1 - share };
}

/** Says which quantiles all or some blocks have too few requests for; `undefined` if there are none. */
export function blockTooShort(load: Load): string | undefined {
  const rarest = rarestKind(load);
  if (rarest === undefined) return undefined;
  const { mean, dispersion } = rarest;
  const fewest = mean - STANDARD_DEVIATIONS * Math.sqrt(dispersion * mean);
  const named = (some: readonly (typeof QUANTILES)[number][]) =>
    some.map(([stat, , least]) => `${stat} (needs ${least})`).join(" and ");
  const short = QUANTILES.filter(([, , least]) => Math.floor(mean) < least);
  const uncertain = QUANTILES.filter(([, , least]) => Math.floor(mean) >= least && fewest < least);
  if (short.length + uncertain.length === 0) return undefined;
  const lacks = [
    ...(short.length === 0 ? [] : [`too few to compare ${named(short)}`]),
    ...(uncertain.length === 0 ? [] : [`in some blocks too few to compare ${named(uncertain)}`]),
  ];
  return `a block sends about ${formatCount(Math.floor(mean), "request")} of the least frequent kind, ${lacks.join(", and ")}. Increase --block-s or --rate, or send more requests in the workload file`;
}

/** How many times as long blocks must be so that all of them have enough requests for these quantiles; `undefined` if unknown. */
export function lengthFactorFor(stats: readonly string[], load: Load): number | undefined {
  const rarest = rarestKind(load);
  if (rarest === undefined || rarest.mean === 0) return undefined;
  const { mean, dispersion } = rarest;
  const least = Math.max(...QUANTILES.map(([stat, , samples]) => (stats.includes(stat) ? samples : 0)));
  // Solves m - STANDARD_DEVIATIONS * sqrt(dispersion * m) = least for the root of m.
  const linear = STANDARD_DEVIATIONS * Math.sqrt(dispersion);
  const needed = ((linear + Math.sqrt(linear ** 2 + 4 * least)) / 2) ** 2;
  return needed / mean;
}
