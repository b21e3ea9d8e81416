import { groupBy, quantile, utc } from "../core/index.ts";
import { directionOf } from "../policy/index.ts";
import { type Change, changesOf, detectableStep, MIN_RUNS, MIN_SIDE } from "./change-points.ts";
import { type Gap, gapsOf } from "./gaps.ts";
import type { StoredRun } from "./history-file.ts";

/** What makes values comparable: series of different groups are never mixed. */
export interface Group {
  readonly target: string;
  readonly address: string;
  /** Tier or workload, `checks`, or `overhead`. */
  readonly name: string;
  /** Hash of the workload. */
  readonly workload: string;
  readonly machine: string;
}

export interface TrendValue {
  readonly runId: string;
  readonly startedAt: string;
  readonly value: number;
  readonly samples: number;
}

/** The newest change of a series. */
export interface ChangePoint {
  /** The first run after the change. */
  readonly runId: string;
  readonly startedAt: string;
  readonly build: string | null;
  /** Medians of the runs before, back to the previous change, and of the runs since. */
  readonly before: number;
  readonly after: number;
  /** `after / before - 1`, `null` if that is a division by 0; the difference for shares and counts. */
  readonly change: number | null;
  readonly p: number;
}

/** One metric of one group over its runs, oldest first. */
export interface Trend {
  readonly name: string;
  readonly group: Group;
  readonly unit: "ms" | "share" | "per s" | "tokens" | "count";
  readonly worse: "higher" | "lower";
  readonly values: readonly TrendValue[];
  readonly gaps: readonly Gap[];
  readonly latest: number | null;
  /** Median of the runs before the change point; without one, of all but the latest. */
  readonly medianBefore: number | null;
  /** From that median to the latest value, as in {@link ChangePoint}. */
  readonly change: number | null;
  readonly changePoint: ChangePoint | null;
  /** Smallest change in the newest three runs that would have been found in 80 of 100 cases, as in {@link ChangePoint}. */
  readonly detectable: number | null;
  readonly verdict: "regressed" | "improved" | "not worse" | "inconclusive";
  readonly why: string;
  /** Set if nothing but the number of its runs keeps it from a verdict. */
  readonly isTooShort?: true;
  /** Set if the latest run of the group has no value; `latest` is then that of the newest run with one. */
  readonly isMissing?: true;
  /** Undecided in a way that may hide a regression, so the history does not pass. */
  readonly mayHideRegression: boolean;
}

export interface TrendOptions {
  /** Smaller changes do not matter, as a share: 0.1 is 10 %. */
  readonly margin: number;
  readonly isSelected: (metric: string) => boolean;
}

/** Smaller changes of latencies do not matter, whatever their percentage, ms. */
const FLOOR_MS = 1;
/** The same for shares and for counts of checks, as a difference. */
const MARGIN_SHARE = 0.01;
const MARGIN_COUNT = 0.5;
/** If even this change would go undetected, detecting none says nothing: twice the value, or a fifth of all requests. */
const MAX_DETECTABLE = { relative: 1, difference: 0.2 };

/** Tails vary a lot: an undecided one alone does not make the history inconclusive. */
const TAIL = / p99$/;

/** Every selected metric of every group of runs. @param runs oldest first. */
export function trendsOf(runs: readonly StoredRun[], { margin, isSelected }: TrendOptions): Trend[] {
  const builds = new Map(runs.map(({ runId, build }) => [runId, build]));
  return groupsOf(runs).flatMap((entries) => {
    const [{ group }] = entries;
    const names = new Set(entries.flatMap(({ figures }) => Object.keys(figures)).filter(isSelected));
    return [...names].sort().map((name) => {
      const values = entries.flatMap(({ runId, startedAt, figures: { [name]: figure } }): TrendValue[] =>
        figure === undefined ? [] : [{ runId, startedAt, ...figure }],
      );
      const gaps = gapsOf(name, entries);
      const last = gaps.at(-1);
      const missing =
        last === undefined || last.runId !== entries.at(-1)?.runId
          ? undefined
          : `the latest run, ${last.runId}, has no value: ${last.why}`;
      // At least half of the earlier runs have it, so its absence is not chance.
      const isLost = missing !== undefined && values.length * 2 >= entries.length - 1;
      return trend({ name, group, values, gaps }, { margin, metrics: names.size, missing, isLost, builds });
    });
  });
}

function groupsOf(runs: readonly StoredRun[]) {
  const entries = runs.flatMap(({ runId, startedAt, target, address, measured }) =>
    measured.map(({ name, workload, machine, problem, figures }) => ({
      group: { target, address, name, workload, machine },
      ...{ runId, startedAt, problem, figures },
    })),
  );
  return [...groupBy(entries, ({ group }) => JSON.stringify(group)).values()];
}

interface Context {
  readonly margin: number;
  readonly metrics: number;
  /** Why the latest run has no value. */
  readonly missing: string | undefined;
  /** The latest run has no value, although most earlier runs have one. */
  readonly isLost: boolean;
  readonly builds: ReadonlyMap<string, string | null>;
}

function trend(series: Pick<Trend, "name" | "group" | "values" | "gaps">, context: Context): Trend {
  const { values } = series;
  const { worse, unit: unitOfLoad } = directionOf(series.name);
  const unit = series.name.startsWith("checks") ? "count" : unitOfLoad;
  const numbers = values.map(({ value }) => value);
  const scale = scaleOf(unit, numbers);
  const changes = numbers.length < MIN_RUNS ? [] : changesOf(numbers.map(scale.of), context.metrics);
  const { change, from } = newestChange(numbers, changes, { scale, margin: context.margin });
  const changePoint = change === undefined ? null : changePointAt(series, { change, from, scale }, context);
  const latest = numbers.at(-1) ?? null;
  const earlier = numbers.slice(0, -1);
  const medianBefore = changePoint?.before ?? (earlier.length === 0 ? null : median(earlier));
  const step =
    numbers.length < MIN_RUNS ? null : scale.shown(detectableStep(numbers.map(scale.of), changes, context.metrics));
  const judged = verdictOf({ changePoint, worse, step, scale, numbers }, context);
  return {
    ...{ ...series, unit, worse, latest, medianBefore, changePoint },
    detectable: step === null || medianBefore === null ? null : displayedStep(step, medianBefore, scale),
    change: latest === null || medianBefore === null ? null : displayedChange(medianBefore, latest, unit),
    ...judged,
    mayHideRegression:
      judged.verdict === "inconclusive" &&
      (!TAIL.test(series.name) || context.isLost || isWorst(numbers, { worse, scale, margin: context.margin })),
  };
}

interface Direction {
  readonly worse: Trend["worse"];
  readonly scale: Scale;
  readonly margin: number;
}

/** Whether the latest value is worse than each one before it by more than the margin. */
function isWorst(numbers: readonly number[], { worse, scale, margin }: Direction): boolean {
  const latest = numbers.at(-1);
  const earlier = numbers.slice(0, -1);
  if (latest === undefined || earlier.length === 0) return false;
  const worst = worse === "higher" ? Math.max(...earlier) : Math.min(...earlier);
  const isBeyond = worse === "higher" ? latest > worst : latest < worst;
  return isBeyond && Math.abs(changeBetween(worst, latest, scale)) >= marginAt(worst, scale, margin);
}

interface Judged {
  readonly changePoint: ChangePoint | null;
  readonly worse: Trend["worse"];
  readonly step: number | null;
  readonly scale: Scale;
  readonly numbers: readonly number[];
}

const changedIn = ({ startedAt }: ChangePoint): string => `changed in the run of ${utc(startedAt)}`;

/** The reason for a series that is too short for a trend. */
function tooFewRuns(runs: number): string {
  return `${runs} of the ${MIN_RUNS} runs that a trend needs`;
}

function verdictOf(
  { changePoint, worse, step, scale, numbers }: Judged,
  { missing, margin }: Context,
): Pick<Trend, "verdict" | "why" | "isTooShort" | "isMissing"> {
  if (missing !== undefined) return { verdict: "inconclusive", why: missing, isMissing: true };
  if (numbers.length < MIN_RUNS) return { verdict: "inconclusive", why: tooFewRuns(numbers.length), isTooShort: true };
  const isWorse = changePoint !== null && changePoint.after > changePoint.before === (worse === "higher");
  if (isWorse) return { verdict: "regressed", why: changedIn(changePoint) };
  const worseRuns = countSuddenlyWorse(numbers, { worse, scale, margin });
  if (worseRuns > 0) {
    const which = worseRuns === 1 ? "the latest run is" : `the latest ${worseRuns} runs are`;
    const all = worseRuns === 1 ? "it" : "them";
    return {
      verdict: "inconclusive",
      why: `${which} far worse than all before ${all}; ${MIN_SIDE} such runs are needed to tell a change from chance`,
    };
  }
  if (changePoint !== null) return { verdict: "improved", why: changedIn(changePoint) };
  const max = scale.isRelative ? MAX_DETECTABLE.relative : MAX_DETECTABLE.difference;
  return step !== null && step > max && scale.unit !== "count"
    ? { verdict: "inconclusive", why: "the runs differ too much: not even a change to twice the value would show" }
    : { verdict: "not worse", why: "no change beyond the margin" };
}

/** Number of latest values, without a gap, that are beyond the margin, and twice as far from the median as any value before the newest few. */
function countSuddenlyWorse(numbers: readonly number[], { worse, scale, margin }: Direction): number {
  const earlier = numbers.slice(0, 1 - MIN_SIDE);
  const middle = median(earlier);
  const beyond = (value: number) => (value - middle) * (worse === "higher" ? 1 : -1);
  const isFar = (value: number) =>
    Math.abs(changeBetween(middle, value, scale)) >= marginAt(middle, scale, margin) &&
    beyond(value) > 2 * Math.max(0, ...earlier.map(beyond));
  const newest = numbers.slice(1 - MIN_SIDE);
  return newest.length - 1 - newest.findLastIndex((value) => !isFar(value));
}

function median(values: readonly number[]): number {
  return quantile(
    [...values].sort((a, b) => a - b),
    0.5,
  );
}

/** How values are compared: by their ratio, or by their difference. */
interface Scale {
  readonly unit: Trend["unit"];
  readonly isRelative: boolean;
  readonly of: (value: number) => number;
  /** A step on this scale as displayed. */
  readonly shown: (step: number) => number;
}

function scaleOf(unit: Trend["unit"], values: readonly number[]): Scale {
  const isRelative = unit !== "share" && unit !== "count" && values.every((value) => value > 0);
  return isRelative
    ? { unit, isRelative, of: Math.log, shown: Math.expm1 }
    : { unit, isRelative, of: (value) => value, shown: (step) => step };
}

function changeBetween(before: number, after: number, { isRelative }: Scale): number {
  return isRelative ? after / before - 1 : after - before;
}

/** A change between the two displayed values, whatever scale the series is judged on. */
function displayedChange(before: number, after: number, unit: Trend["unit"]): number | null {
  if (unit === "share" || unit === "count") return after - before;
  return before === 0 ? null : after / before - 1;
}

/** A step on the scale of the series as {@link displayedChange}. */
function displayedStep(step: number, before: number, { unit, isRelative }: Scale): number | null {
  return isRelative ? step : displayedChange(before, before + step, unit);
}

/** The newest change beyond the margin, and where the runs before it begin. */
function newestChange(
  values: readonly number[],
  changes: readonly Change[],
  { scale, margin }: { readonly scale: Scale; readonly margin: number },
): { readonly change?: Change; readonly from: number } {
  // A change within the margin is ignored, and its two sides are merged.
  for (let index = changes.length - 1; index >= 0; index--) {
    const change = changes[index];
    const from = changes[index - 1]?.index ?? 0;
    if (change === undefined) continue;
    const [before, after] = [median(values.slice(from, change.index)), median(values.slice(change.index))];
    if (Math.abs(changeBetween(before, after, scale)) >= marginAt(before, scale, margin)) return { change, from };
  }
  return { from: 0 };
}

function marginAt(before: number, { unit, isRelative }: Scale, margin: number): number {
  if (unit === "share") return MARGIN_SHARE;
  if (unit === "count") return MARGIN_COUNT;
  const floor = unit === "ms" ? FLOOR_MS : 0;
  return isRelative ? Math.max(margin, floor / before) : Math.max(Math.abs(before) * margin, floor);
}

function changePointAt(
  { values }: Pick<Trend, "values">,
  { change, from, scale }: { readonly change: Change; readonly from: number; readonly scale: Scale },
  { builds }: Context,
): ChangePoint | null {
  const first = values[change.index];
  if (first === undefined) return null;
  const middle = (some: readonly TrendValue[]) => median(some.map(({ value }) => value));
  const [before, after] = [middle(values.slice(from, change.index)), middle(values.slice(change.index))];
  return {
    runId: first.runId,
    startedAt: first.startedAt,
    build: builds.get(first.runId) ?? null,
    ...{ before, after, change: displayedChange(before, after, scale.unit), p: change.p },
  };
}
