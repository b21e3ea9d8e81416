import type { Quantiles } from "./sections/load-section.ts";

/** Number of values of which at least one lies beyond the quantile; with fewer, the sample does not reach it. */
export const SAMPLES_NEEDED: Readonly<Record<keyof Quantiles, number>> = {
  ...{ p50: 2, p90: 10, p95: 20, p99: 100, p999: 1_000 },
  max: 1,
};
