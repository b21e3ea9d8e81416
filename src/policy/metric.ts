import type { Added, LoadClass, RunRecord } from "../record/index.ts";

/** What figures are read from. */
export type Measured = Pick<RunRecord, "checks" | "load" | "overhead">;

/** Statistics of a distribution. */
export const STATS = ["p50", "p90", "p95", "p99", "p999", "max"] as const;
export type Stat = (typeof STATS)[number];
/** Of a difference between two distributions. */
export const DIFFERENCE_STATS = ["p50", "p90", "p99"] as const;

/** Labels that distinguish a figure from its siblings. `phase` also accepts the short names `at-limit` and `over-limit`. */
export type Labels = Readonly<Record<string, string>>;

/** One distribution: never merged with another, because quantiles cannot be merged. */
export interface DistributionSeries {
  readonly labels: Labels;
  readonly samples: number;
  readonly quantiles: Readonly<Record<Stat, number>> | null;
  /** Of the quantiles; absent if none were computed, as for figures of the generator. */
  readonly intervals?: Intervals | undefined;
  /** false: the generator exceeded its bounds, so the figure says nothing about the gateway. */
  readonly valid: boolean;
}

export type Ends = readonly [low: number, high: number] | null;
type Intervals = NonNullable<NonNullable<LoadClass["responseMs"]>["intervals"]>;

/** One part of a sum or of a share. */
export interface CountSeries {
  readonly labels: Labels;
  /** What is counted. */
  readonly count: number;
  /** The total; the share is the sum of counts over the sum of totals. Also decides "zero samples". */
  readonly of: number;
  /** Of the share or rate, if it has one; `null`: the phase was too short. */
  readonly interval?: Ends | undefined;
  readonly valid: boolean;
}

/** Differences with their intervals. */
export interface DifferenceSeries {
  readonly labels: Labels;
  readonly samples: number;
  readonly quantiles: Added;
}

export type Metric =
  | { readonly kind: "distribution"; readonly labels: readonly string[]; read(record: Measured): DistributionSeries[] }
  | { readonly kind: "difference"; readonly labels: readonly string[]; read(record: Measured): DifferenceSeries[] }
  /** `sum`: counts add up. `share`: counts over their totals. `each`: one figure per series, the worst counts. */
  | {
      readonly kind: "sum" | "share" | "each";
      readonly labels: readonly string[];
      read(record: Measured): CountSeries[];
    };
