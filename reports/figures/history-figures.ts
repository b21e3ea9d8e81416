import { groupBy } from "../../src/core/index.ts";
import { type HistoryReport, MIN_RUNS, type Trend } from "../../src/history/index.ts";
import type { Status } from "../../src/record/index.ts";
import type { HistoryFacts } from "../text/index.ts";

/** The status whose sign and colour a trend uses. */
export const TREND_STATUS: Readonly<Record<Trend["verdict"], Status>> = {
  regressed: "fail",
  improved: "pass",
  "not worse": "pass",
  inconclusive: "inconclusive",
};

/** A value with its unit. */
export function valueText({ unit }: Pick<Trend, "unit">, value: number | null): string {
  if (value === null) return "–";
  if (unit === "share") return `${Number((value * 100).toPrecision(3))} %`;
  return `${Number(value.toPrecision(4))}${unit === "count" ? "" : ` ${unit}`}`;
}

/** A change with its sign: percent, or the difference for shares and counts. */
export function changeText({ unit }: Pick<Trend, "unit">, change: number | null): string {
  if (change === null || !Number.isFinite(change)) return "–";
  const sign = change > 0 ? "+" : change < 0 ? "−" : "±";
  const size = Math.abs(change);
  if (unit === "count") return `${sign}${Number(size.toPrecision(3))}`;
  return `${sign}${(size * 100).toFixed(1)} ${unit === "share" ? "points" : "%"}`;
}

/** Trends by group, in order. */
export function byGroup(trends: readonly Trend[]): { readonly group: Trend["group"]; readonly trends: Trend[] }[] {
  const groups = groupBy(trends, ({ group }) => JSON.stringify(group));
  return [...groups.values()].map((some) => ({ group: some[0].group, trends: some }));
}

/** What the sentence about a history says. */
export function factsOfHistory({ verdict, trends, lostChecks, notImported }: HistoryReport): HistoryFacts {
  const named = (result: Trend["verdict"]) => trends.filter((trend) => trend.verdict === result);
  const vanished = lostChecks.filter(({ now }) => now === null).length;
  return {
    verdict,
    metrics: trends.length,
    undecided: named("inconclusive").length,
    regressed: named("regressed").map(({ name }) => name),
    vanished,
    lost: lostChecks.length - vanished,
    notImported: notImported.length,
    longest: Math.max(0, ...trends.map(({ values }) => values.length)),
    needed: MIN_RUNS,
  };
}
