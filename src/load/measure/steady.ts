import { median, rankCorrelation } from "../../core/index.ts";
import type { JudgedPhase, LoadSecond } from "../../record/index.ts";

export type Steady = NonNullable<JudgedPhase["steady"]>;

/** Minimum number of seconds with latencies for a conclusion. */
const MIN_S = 10;
/** The beginning is removed as a warm-up if it differs from the rest by this many standard errors, and by this share of it. */
const DIFFERENT_ERRORS = 3;
const DIFFERENT_SHARE = 0.05;
/** A trend: rank correlation in standard errors, and the change from the first quarter to the last. */
const TREND_ERRORS = 3.3;
const TREND_SHARE = 0.1;
/** Smaller latency changes do not matter, whatever their percentage: the machine alone makes a fast gateway vary by this much, ms. */
const MIN_CHANGE_MS = 1;
/** After a warm-up, only a few seconds of a ramp may remain. Less evidence is enough there: the whole phase must have a trend, too. */
const REST_ERRORS = 2.8;
/**
 * After a removed warm-up, a trend that continues it by this share needs less evidence: the warm-up has not ended.
 */
const CONTINUED_ERRORS = 2;
const CONTINUED_SHARE = 0.3;
/** Work is piling up if this share of what is sent meanwhile stays in flight, or of what arrives is dropped. */
const PILED_SHARE = 0.02;
/** A sawtooth: autocorrelation after one period, and the amplitude. */
const PERIOD_CORRELATION = 0.4;
/** It must also exceed chance by this many standard errors, because many periods are tried. */
const PERIOD_ERRORS = 3.6;
const PERIOD_SHARE = 0.2;
const MIN_PERIOD_S = 3;

/**
 * Finds the steady part of a phase from its seconds: the beginning is removed such that the mean of the rest is most precise
 * (MSER, White 1997), for the rate and for the median E2E latency of each mode; the rest must then not rise, fall or oscillate.
 *
 * @param series seconds of the phase. @param startS its start, seconds from the start of the run.
 */
export function steadyOf(series: readonly LoadSecond[], startS: number): Steady {
  const none = (kind: Steady["kind"]): Steady => ({ fromS: null, toS: null, kind });
  // While the last responses are pending, nothing is steady; the last second may be incomplete.
  const lastSent = series.findLastIndex(({ sent }) => sent > 0);
  const seconds = series.slice(0, lastSent).filter(({ admitted }) => admitted > 0);
  const modes = (["streaming", "nonStreaming"] as const)
    .map((mode) => latenciesOf(seconds, mode))
    .filter(({ values }) => values.length >= MIN_S);
  if (modes.length === 0) return none("too-short");
  const rates = seconds.map(({ admitted }) => admitted);
  if ([...modes.map(({ values }) => values), rates].some(isPeriodic)) return none("saw-tooth");
  const from = Math.max(warmUpOf(rates), ...modes.map(({ warmUp }) => warmUp));
  const rest = seconds.slice(from);
  if (isPiling(rest) || isDropping(seconds)) return none("growth");
  // Random arrivals rise and fall; only latencies show that a warm-up does not end.
  const isSlowing = modes.some(({ values, indexes, warmUp }) =>
    isMovingAfter(values, indexes.filter((index) => index < from).length, warmUp > 0),
  );
  const isCutInHalf = from >= Math.floor(seconds.length / 2);
  if (!isSlowing && isRamp(seconds, TREND_ERRORS) && (isCutInHalf || isRamp(rest, REST_ERRORS))) return none("ramp");
  if (isSlowing || isCutInHalf || hasTrend(rates.slice(from))) return none("drift");
  const [first, last] = [rest[0]?.atS ?? startS, rest.at(-1)?.atS ?? startS];
  return { fromS: from === 0 ? startS : first, toS: last + 1, kind: "steady" };
}

/** The median E2E latencies of a mode. */
interface ModeLatencies {
  readonly values: readonly number[];
  /** Of each value, the index of its second. */
  readonly indexes: readonly number[];
  /** Number of seconds, with or without a value, in the beginning that differs. */
  readonly warmUp: number;
}

function latenciesOf(seconds: readonly LoadSecond[], mode: "streaming" | "nonStreaming"): ModeLatencies {
  const known = seconds.flatMap(({ responseByModeMs }, index) => {
    const p50 = responseByModeMs[mode]?.p50;
    return p50 === undefined ? [] : [{ index, p50 }];
  });
  const values = known.map(({ p50 }) => p50);
  const indexes = known.map(({ index }) => index);
  const cut = warmUpOf(values, MIN_CHANGE_MS);
  return { values, indexes, warmUp: cut === 0 ? 0 : (indexes[cut] ?? 0) };
}

/** Length of the beginning that differs from what follows; at most half. @param minChange the smallest difference that matters. */
function warmUpOf(values: readonly number[], minChange = 0): number {
  let [best, lowest] = [0, Number.POSITIVE_INFINITY];
  for (let cut = 0; cut <= values.length / 2; cut++) {
    const rest = values.slice(cut);
    const error = squaresOf(rest) / rest.length ** 2;
    if (error >= lowest) continue;
    [best, lowest] = [cut, error];
  }
  const rest = values.slice(best);
  const difference = Math.abs(meanOf(values.slice(0, best)) - meanOf(rest));
  const deviation = Math.sqrt(squaresOf(rest) / Math.max(1, rest.length - 1));
  const error = deviation * Math.sqrt(1 / Math.max(1, best) + 1 / rest.length);
  const isDifferent =
    difference > DIFFERENT_ERRORS * error && difference > Math.max(minChange, DIFFERENT_SHARE * Math.abs(meanOf(rest)));
  return best > 0 && isDifferent ? best : 0;
}

/** Whether latencies rise or fall after the removed beginning. @param differs whether that beginning differs from the rest. */
function isMovingAfter(values: readonly number[], from: number, differs: boolean): boolean {
  const rest = values.slice(from);
  const [first, last] = quartersOf(rest);
  const difference = meanOf(rest) - meanOf(values.slice(0, from));
  const goesOn = differs && (last - first) / difference > CONTINUED_SHARE;
  return hasTrend(rest, { minErrors: goesOn ? CONTINUED_ERRORS : TREND_ERRORS, minChange: MIN_CHANGE_MS });
}

/** Whether values rise or fall from their first quarter to their last, beyond chance. */
function hasTrend(values: readonly number[], { minErrors = TREND_ERRORS, minChange = 0 } = {}): boolean {
  const errors = Math.abs(rankCorrelation(values)) * Math.sqrt(values.length - 1);
  const [first, last] = quartersOf(values);
  return errors > minErrors && Math.abs(last - first) > Math.max(minChange, TREND_SHARE * Math.min(first, last));
}

/** Whether the offered rate rises or falls. */
const isRamp = (seconds: readonly LoadSecond[], minErrors: number): boolean =>
  hasTrend(
    seconds.map(({ offered }) => offered),
    { minErrors },
  );

/** Whether requests are sent faster than they are completed. */
function isPiling(seconds: readonly LoadSecond[]): boolean {
  const [first, last] = quartersOf(seconds.map(({ inFlight }) => inFlight));
  const sent = seconds.reduce((sum, second) => sum + second.sent, 0);
  // The midpoints of the first and the last quarter are three quarters of the time apart.
  return last - first > PILED_SHARE * 0.75 * sent && hasTrend(seconds.map(({ inFlight }) => inFlight));
}

/** Whether arrivals are dropped at the end because too many requests are already in flight. */
function isDropping(seconds: readonly LoadSecond[]): boolean {
  const last = seconds.slice(-Math.ceil(seconds.length / 4));
  const sum = (name: "dropped" | "offered") => last.reduce((all, second) => all + second[name], 0);
  return sum("dropped") > PILED_SHARE * sum("offered");
}

function quartersOf(values: readonly number[]): readonly [first: number, last: number] {
  const quarter = Math.max(1, Math.floor(values.length / 4));
  return [median(values.slice(0, quarter)), median(values.slice(-quarter))];
}

/** Whether values oscillate with a period that occurs at least two and a half times. */
function isPeriodic(values: readonly number[]): boolean {
  const sorted = [...values].sort((a, b) => a - b);
  const at = (share: number) => sorted[Math.floor(share * (sorted.length - 1))] ?? 0;
  if (at(0.9) - at(0.1) < PERIOD_SHARE * at(0.5)) return false;
  const middle = meanOf(values);
  const correlation = (lag: number) => {
    const products = values.slice(lag).map((value, index) => (value - middle) * ((values[index] ?? 0) - middle));
    return (
      (products.reduce((sum, product) => sum + product, 0) / squaresOf(values)) * (values.length / products.length)
    );
  };
  let wasOpposite = false;
  for (let lag = 1; lag <= values.length / 2.5; lag++) {
    const own = correlation(lag);
    if (own < -0.1) wasOpposite = true;
    const enough = Math.max(PERIOD_CORRELATION, PERIOD_ERRORS / Math.sqrt(values.length));
    if (wasOpposite && lag >= MIN_PERIOD_S && own > enough) return true;
  }
  return false;
}

function meanOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length);
}

function squaresOf(values: readonly number[]): number {
  const middle = meanOf(values);
  return values.reduce((sum, value) => sum + (value - middle) ** 2, 0);
}
