import { type Added, SAMPLES_NEEDED } from "../record/index.ts";
import { unmatchedLabel } from "./label-values.ts";
import {
  type CountSeries,
  type DifferenceSeries,
  type DistributionSeries,
  type Labels,
  type Measured,
  STATS,
  type Stat,
} from "./metric.ts";
import { matches, metricOf } from "./metrics.ts";
import type { Operator, Threshold } from "./threshold.ts";

/** The figure that is compared with the bound of a threshold. */
export interface Figure {
  readonly value: number;
  /** Ends of its interval, if it has one: they decide the gate. */
  readonly low?: number;
  readonly high?: number;
  readonly samples: number;
  /** The quantile itself is unknown, and this lower one, or higher one, already misses the bound. */
  readonly provenBy?: Stat;
  /** The worst series, if several matched. */
  readonly labels: Readonly<Record<string, string>>;
}

/** ` already at p50`: the quantile that decides in place of the unknown one. */
export const provenAt = (stat: Stat | undefined): string => (stat === undefined ? "" : ` already at ${stat}`);

/** Why the figure is missing. Never a pass. */
export interface NoFigure {
  readonly why: string;
  /** The quantile of the samples, which are too few, or too correlated, to decide. */
  readonly approximately?: number;
  readonly samples: number;
}

/**
 * Number of independent samples below which a quantile has no upper bound that holds with 97.5 %: ln 0.025 / ln q. With fewer,
 * a quantile of the sample says little about the quantile of the gateway.
 */
const MIN_SAMPLES: Readonly<Record<Stat, number>> = { p50: 6, p90: 36, p95: 72, p99: 368, p999: 3_688, max: 1 };

/** Independent samples that a statistic needs to meet a bound. */
export const minSamplesOf = (stat: Stat): number => MIN_SAMPLES[stat];

/**
 * Why this many samples give no value of a quantile: they are too few, or count as fewer because they are correlated.
 *
 * @param of which samples, if a record has others: ` of {dialect=chat}`.
 */
export function whyTooFew(samples: number, stat: Stat, of = ""): string {
  const needed = MIN_SAMPLES[stat];
  return samples < needed
    ? `${samples} samples${of} are too few for ${stat}, which needs ${needed}`
    : `the ${samples} samples${of} are correlated in time and count as fewer than the ${needed} independent ones that ${stat} needs; a longer load yields more independent samples`;
}

/**
 * Selects the figure of a threshold from a record. A distribution must meet its bound in every series that matches, so the
 * worst of them is taken; counts are added up, and shares are computed from the sums.
 */
export function figureOf(record: Measured, threshold: Threshold): Figure | NoFigure {
  const metric = metricOf(threshold.metric);
  if (metric.kind === "distribution") return ofDistributions(metric.read(record), threshold);
  if (metric.kind === "difference") return ofDifferences(metric.read(record), threshold);
  return ofCounts(metric.kind, metric.read(record), threshold);
}

/** The value of what a threshold is about, whatever its bound; `undefined` if there is none, for example because of too few samples. */
export function measuredValue(record: Measured, threshold: Threshold): Pick<Figure, "value" | "samples"> | undefined {
  const figure = figureOf(record, threshold);
  // The value is that of another quantile, which proves that the bound is crossed.
  if (!("value" in figure) || figure.provenBy !== undefined) return undefined;
  return { value: figure.value, samples: figure.samples };
}

function ofDistributions(all: readonly DistributionSeries[], threshold: Threshold): Figure | NoFigure {
  const { labels, stat = "max" } = threshold;
  const withOutcome =
    "outcome" in labels || !all.some((series) => "outcome" in series.labels)
      ? labels
      : { ...labels, outcome: "admitted" };
  const series = all.filter((entry) => matches(withOutcome, entry.labels) && entry.quantiles !== null);
  if (series.length === 0)
    return threshold.metric === "itl_ms" ? withoutUsage(all, withOutcome) : nothing(all, withOutcome);
  const fewest = series.reduce((least, entry) => (entry.samples < least.samples ? entry : least));
  const { samples } = fewest;
  if (series.some(({ valid }) => !valid)) return { why: "this machine was too busy to judge timing", samples };
  const needed = MIN_SAMPLES[stat];
  const proof = samples < needed || series.some(unsureAt(stat)) ? crossingOf(series, threshold) : undefined;
  if (proof !== undefined) return proof;
  const unsure = samples < needed ? fewest : series.find(unsureAt(stat));
  if (unsure !== undefined) return tooFew(unsure, stat, series);
  const figures = series.flatMap(({ quantiles, intervals, labels: own, samples: of }): Figure[] =>
    quantiles === null
      ? []
      : [{ value: quantiles[stat], ...endsOf(stat === "max" ? null : intervals?.[stat]), samples: of, labels: own }],
  );
  return worst(figures, threshold);
}

function tooFew(entry: DistributionSeries, stat: Stat, series: readonly DistributionSeries[]): NoFigure {
  const { samples, quantiles } = entry;
  const why = whyTooFew(samples, stat, ofSeries(entry, series));
  return {
    why,
    samples,
    ...(quantiles !== null && samples >= SAMPLES_NEEDED[stat] && { approximately: quantiles[stat] }),
  };
}

/** ` of {dialect=chat, stream=true}`: the labels that distinguish a series from the others that a threshold selects. */
function ofSeries({ labels }: DistributionSeries, all: readonly DistributionSeries[]): string {
  const own = Object.entries(labels).filter(([name, value]) => all.some((other) => other.labels[name] !== value));
  return own.length === 0 ? "" : ` of {${own.map(([name, value]) => `${name}=${value}`).join(", ")}}`;
}

const unsureAt =
  (stat: Stat) =>
  ({ intervals }: DistributionSeries): boolean =>
    stat !== "max" && intervals?.[stat] === null;

/**
 * The figure of a series that proves that the bound is crossed although the quantile has too few samples: a p99 is not below p50,
 * so a p50 whose whole interval is above an upper bound decides, with the same confidence. Likewise for lower bounds and higher
 * quantiles.
 */
function crossingOf(
  series: readonly DistributionSeries[],
  { stat = "max", operator, bound }: Threshold,
): Figure | undefined {
  if (bound.kind !== "number" || stat === "max") return undefined;
  const isUpper = operator.startsWith("<");
  if (!isUpper && !operator.startsWith(">")) return undefined;
  const at = STATS.indexOf(stat);
  const others = isUpper ? STATS.slice(0, at + 1).reverse() : STATS.slice(at);
  for (const { quantiles, intervals, labels, samples } of series)
    for (const other of others) {
      const ends = other === "max" ? null : intervals?.[other];
      if (quantiles === null || !ends) continue;
      const figure = { value: quantiles[other], low: ends[0], high: ends[1], samples, labels, provenBy: other };
      if ([figure.low, figure.high].every((end) => !holds(end, operator, bound.value))) return figure;
    }
  return undefined;
}

function endsOf(interval: readonly [number, number] | null | undefined): Pick<Figure, "low" | "high"> {
  return interval ? { low: interval[0], high: interval[1] } : {};
}

function ofDifferences(all: readonly DifferenceSeries[], threshold: Threshold): Figure | NoFigure {
  const series = all.filter((entry) => matches(threshold.labels, entry.labels));
  const figures = series.flatMap(({ labels, samples, quantiles }): Figure[] => {
    const { value, low, high } = quantiles[threshold.stat as keyof Added] ?? {};
    if (value === undefined || value === null || low === undefined || high === undefined) return [];
    return [{ value, low: low ?? value, high: high ?? value, samples, labels }];
  });
  if (series.length === 0) return nothing(all, threshold.labels);
  const samples = Math.min(...series.map((entry) => entry.samples));
  return figures.length < series.length ? { why: "a level has too few requests", samples } : worst(figures, threshold);
}

/** Explains a missing value: names the selector that matched nothing, if there is one. */
function nothing(all: readonly Labelled[], labels: Labels, isCount = false): NoFigure {
  const unmatched = unmatchedLabel(labels, all, { isCount, isMatch: matches });
  return { why: unmatched ?? "no measurement matches it", samples: 0 };
}

/** Gaps between tokens need the number of tokens, which a chat stream states only on request. */
function withoutUsage(all: readonly DistributionSeries[], labels: Labels): NoFigure {
  const isStreamed = all.some((series) => matches({ ...labels, stream: "true" }, series.labels));
  if (!isStreamed) return nothing(all, labels);
  const why =
    "no admitted stream reported its token count; set `includeUsage: true` on the streaming chat classes of the workload";
  return { why, samples: 0 };
}

interface Labelled {
  readonly labels: Labels;
}

/** Labels that select what is counted. They do not narrow the total that it is a share of. */
const OF_COUNTED: readonly string[] = ["status", "reason"];

function ofCounts(
  kind: "sum" | "share" | "each",
  all: readonly CountSeries[],
  threshold: Threshold,
): Figure | NoFigure {
  const series = all.filter((entry) => matches(threshold.labels, entry.labels));
  // The labels that are not about what is counted determine the total.
  const scope = Object.fromEntries(Object.entries(threshold.labels).filter(([label]) => !OF_COUNTED.includes(label)));
  const about = kind === "sum" ? all.filter((entry) => matches(scope, entry.labels)) : series;
  const samples = about.reduce((sum, { of }) => sum + of, 0);
  if (samples === 0) return nothing(all, threshold.labels);
  if (kind === "sum" && unmatchedLabel(threshold.labels, all, { isCount: true, isMatch: matches }) !== undefined)
    return nothing(all, threshold.labels, true);
  if (about.some(({ valid }) => !valid)) return { why: "this machine was too busy to judge timing", samples };
  if (kind !== "sum" && series.some(({ interval }) => interval === null))
    return { why: "a phase was too short to estimate how precise the rate is", samples };
  if (kind === "each") {
    return worst(
      series.map(({ count, of, interval, labels }) => ({ value: count, ...endsOf(interval), samples: of, labels })),
      threshold,
    );
  }
  const total = series.reduce((sum, { count }) => sum + count, 0);
  if (kind === "sum") return { value: total, samples, labels: threshold.labels };
  return { value: total / samples, ...endsOf(intervalOfShare(series, threshold)), samples, labels: threshold.labels };
}

/**
 * The weighted mean of the phases' intervals, which is at least as wide as the interval of all together. None if the bound
 * means "not a single one" or "every one".
 */
function intervalOfShare(
  series: readonly CountSeries[],
  { bound, operator }: Threshold,
): readonly [number, number] | undefined {
  const isExact = operator === "==" || (bound.kind === "number" && (bound.value <= 0 || bound.value >= 1));
  const intervals = series.flatMap(({ interval, of }) => (interval ? [{ interval, of }] : []));
  if (isExact || intervals.length < series.length) return undefined;
  const all = intervals.reduce((sum, { of }) => sum + of, 0);
  const end = (index: 0 | 1) => intervals.reduce((sum, { interval, of }) => sum + interval[index] * of, 0) / all;
  return [end(0), end(1)];
}

function worst(figures: readonly Figure[], { operator }: Threshold): Figure | NoFigure {
  const sorted = [...figures].sort((a, b) =>
    operator.startsWith(">") ? (a.low ?? a.value) - (b.low ?? b.value) : (b.high ?? b.value) - (a.high ?? a.value),
  );
  return sorted[0] ?? { why: "no measurement matches it", samples: 0 };
}

/** Whether a figure meets a bound; `undefined` if its interval lies on both sides of it. */
export function isMet(
  { value, low = value, high = value }: Figure,
  operator: Operator,
  bound: number,
): boolean | undefined {
  const met = holds(value, operator, bound);
  return [low, high].some((end) => holds(end, operator, bound)) ===
    [low, high].every((end) => holds(end, operator, bound))
    ? met
    : undefined;
}

function holds(value: number, operator: Operator, bound: number): boolean {
  switch (operator) {
    case "<":
      return value < bound;
    case "<=":
      return value <= bound;
    case ">":
      return value > bound;
    case ">=":
      return value >= bound;
    case "==":
      return value === bound;
  }
}
