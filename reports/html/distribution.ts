import type { Histogram } from "../../src/metrics/index.ts";
import type { ReportSource } from "../evidence/source.ts";
import { type ClassFigure, classHistogram } from "../figures/class-histogram.ts";
import type { Bar } from "./charts/histogram-bars.tsx";

export interface Curve {
  readonly points: readonly { readonly quantile: number; readonly ms: number }[];
  readonly trusted: number;
}

/** Requests that must lie above a quantile for it to be trusted: -ln 0.025. */
const MIN_BEYOND = 3.7;

/** Quantiles of one figure: from its full histogram if recorded, otherwise from the record. */
export function curveOf(source: ReportSource, of: ClassFigure): Curve | undefined {
  const { entry, figure } = of;
  const quantiles = entry[`${figure}Ms`];
  if (quantiles === null) return undefined;
  const histogram = classHistogram(source, of);
  const count = histogram?.count ?? entry.count;
  const trusted = Math.max(0.5, 1 - MIN_BEYOND / Math.max(count, 1));
  if (histogram !== undefined && histogram.count > 0) {
    return {
      trusted,
      points: PLACES.map((quantile) => ({ quantile, ms: histogram.quantileUs(quantile) / 1_000 })),
    };
  }
  return {
    trusted,
    points: [
      { quantile: 0.5, ms: quantiles.p50 },
      { quantile: 0.9, ms: quantiles.p90 },
      { quantile: 0.95, ms: quantiles.p95 },
      { quantile: 0.99, ms: quantiles.p99 },
      { quantile: 0.999, ms: quantiles.p999 },
      { quantile: 0.9999, ms: quantiles.max },
    ],
  };
}

/** Twenty points for every nine: from 0 to 99.99 %. */
const PLACES: readonly number[] = Array.from({ length: 81 }, (_, index) => 1 - 10 ** (-index / 20));

/** Bars per decade, the finest first, and the maximum number of bars that fit on half a page. */
const PER_DECADE = [20, 10, 5, 2];
const MAX_BARS = 48;

/** Bars of a histogram, evenly spaced on a logarithmic scale. @returns `undefined` if the histogram was not recorded. */
export function barsOf(source: ReportSource, of: ClassFigure): Bar[] | undefined {
  const histogram = classHistogram(source, of);
  if (histogram === undefined || histogram.count === 0) return undefined;
  const [lowUs, highUs] = [Math.max(1, histogram.quantileUs(0)), Math.max(2, histogram.quantileUs(1))];
  const decades = Math.log10(highUs / lowUs);
  const per = PER_DECADE.find((count) => decades * count <= MAX_BARS - 2) ?? 1;
  const [first, last] = [Math.floor(Math.log10(lowUs) * per), Math.ceil(Math.log10(highUs * 1.001) * per)];
  return Array.from({ length: last - first }, (_, index) => {
    const [fromUs, toUs] = [10 ** ((first + index) / per), 10 ** ((first + index + 1) / per)];
    const count = countBelow(histogram, toUs) - (index === 0 ? 0 : countBelow(histogram, fromUs));
    return { fromMs: fromUs / 1_000, toMs: toUs / 1_000, count };
  });
}

/** Number of values below a bound, by bisection: a histogram returns the value at a rank, and values increase with rank. */
function countBelow(histogram: Histogram, us: number): number {
  let [low, high] = [0, histogram.count];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (histogram.quantileUs(middle / histogram.count) < us) low = middle;
    else high = middle - 1;
  }
  return low;
}
