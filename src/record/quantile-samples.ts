import type { Quantiles } from "./sections/load-section.ts";

/** Minimum number of samples for each quantile; with fewer, no sample lies beyond it. */
export const SAMPLES_NEEDED: Readonly<Record<keyof Quantiles, number>> = {
  ...{ p50: 2, p90: 10, p95: 20, p99: 100, p999: 1_000 },
  max: 1,
};
