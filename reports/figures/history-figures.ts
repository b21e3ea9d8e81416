import { groupBy } from "../../src/core/index.ts";
import {
  type Gap,
  type HistoryReport,
  MIN_RUNS,
  mostImportantFirst,
  type Trend,
  type TrendValue,
} from "../../src/history/index.ts";
import type { Status } from "../../src/record/index.ts";
import type { HistoryFacts } from "../text/index.ts";

/** The status whose sign and colour a trend uses. */
export const TREND_STATUS: Readonly<Record<Trend["verdict"], Status>> = {
  regressed: "fail",
  improved: "pass",
  "not worse": "pass",
  inconclusive: "inconclusive",
};

/** The main metrics of a group that have at least this many values, most important first. */
export function mainTrends(trends: readonly Trend[], most: number, minValues = 2): Trend[] {
  return mostImportantFirst(trends.filter(({ values }) => values.length >= minValues)).slice(0, most);
}

const BARS = "▁▂▃▄▅▆▇█";
/** Runs that a sparkline shows. */
const MAX_BARS = 16;

/** A run without a value, in a sparkline. */
const GAP = "·";

/** Values and gaps in the order of the runs. */
export function runsOf({ values, gaps }: Pick<Trend, "values" | "gaps">): readonly (TrendValue | Gap)[] {
  return [...values, ...gaps].sort((a, b) => Date.parse(a.startedAt) - Date.parse(b.startedAt));
}

/** The newest values as bars, from the lowest to the highest of them, with a dot for a run without a value: `▁▁·▂█`. */
export function sparkline(trend: Pick<Trend, "values" | "gaps">): string {
  const runs = runsOf(trend).slice(-MAX_BARS);
  const numbers = runs.flatMap((run) => ("value" in run ? [run.value] : []));
  const [low, high] = [Math.min(...numbers), Math.max(...numbers)];
  const bar = (value: number) =>
    BARS[high === low ? 3 : Math.round(((value - low) / (high - low)) * (BARS.length - 1))] ?? "";
  return runs.map((run) => ("value" in run ? bar(run.value) : GAP)).join("");
}

/** The runs of a group that have no value of any metric, except the latest, whose reason is shown with the metrics. */
export function runsWithoutValues(trends: readonly Trend[]): readonly Gap[] {
  const latest = new Set(trends.flatMap(({ isMissing, gaps }) => (isMissing === true ? [gaps.at(-1)?.runId] : [])));
  const gaps = trends.flatMap(({ gaps }) => gaps).filter(({ isWholeRun, runId }) => isWholeRun && !latest.has(runId));
  return [...new Map(gaps.map((gap) => [gap.runId, gap])).values()];
}

/** Trends by group, in order. */
export function byGroup(trends: readonly Trend[]): { readonly group: Trend["group"]; readonly trends: Trend[] }[] {
  const groups = groupBy(trends, ({ group }) => JSON.stringify(group));
  return [...groups.values()].map((some) => ({ group: some[0].group, trends: some }));
}

/** What the sentence about a history says. */
export function factsOfHistory({ verdict, runs, trends, lostChecks, notImported }: HistoryReport): HistoryFacts {
  const named = (result: Trend["verdict"]) => trends.filter((trend) => trend.verdict === result);
  const vanished = lostChecks.filter(({ now }) => now === null).length;
  const lengths = trends.map(({ values }) => values.length);
  return {
    verdict,
    metrics: trends.length,
    undecided: named("inconclusive").length,
    regressed: mostImportantFirst(named("regressed")).map(({ name }) => name),
    vanished,
    lost: lostChecks.length - vanished,
    notImported: notImported.length,
    runs: runs.length,
    ...{ longest: Math.max(0, ...lengths), shortest: lengths.length === 0 ? 0 : Math.min(...lengths) },
    needed: MIN_RUNS,
  };
}
