import { formatCount, groupBy, utc } from "../core/index.ts";
import { MIN_RUNS } from "./change-points.ts";
import type { StoredRun } from "./history-file.ts";
import { mostImportantFirst } from "./importance.ts";
import type { LostCheck } from "./lost-checks.ts";
import { changeText } from "./trend-text.ts";
import type { Group, Trend } from "./trends.ts";

/** A run with its folder, if it was imported from one just now: the file stores none, because folders are deleted. */
export interface ShownRun extends StoredRun {
  readonly folder?: string;
}

/** A history for printing and rendering. */
export interface HistoryReport {
  readonly file: string;
  /** Runs that were new to the file, and those already in it. */
  readonly imported: number;
  readonly known: number;
  /** Folders with a comparison of two stored runs, which measured nothing itself. */
  readonly comparisons: number;
  readonly notImported: readonly { readonly dir: string; readonly why: string }[];
  /** Oldest first. */
  readonly runs: readonly ShownRun[];
  readonly trends: readonly Trend[];
  readonly lostChecks: readonly LostCheck[];
  readonly verdict: "pass" | "fail" | "inconclusive";
  readonly reasons: readonly string[];
}

/**
 * The verdict over all trends. It is a pass only if no check was lost and every metric was decided, except tails that show no
 * sign of a regression.
 */
export function judgeTrends({
  trends,
  lostChecks,
  notImported,
}: Pick<HistoryReport, "trends" | "lostChecks" | "notImported">): Pick<HistoryReport, "verdict" | "reasons"> {
  const of = (verdict: Trend["verdict"]) => trends.filter((trend) => trend.verdict === verdict);
  const regressed = of("regressed");
  const undecided = of("inconclusive");
  const open = undecided.filter(({ mayHideRegression }) => mayHideRegression);
  const tooFew = undecided.filter(({ isTooShort }) => isTooShort === true);
  const [first] = [...open, ...undecided].filter(({ isTooShort }) => isTooShort !== true);
  const others = undecided.length - tooFew.length - 1;
  const vanished = lostChecks.filter(({ now }) => now === null);
  const reasons = [
    ...regressedLines(regressed),
    ...lostLines(lostChecks),
    ...(notImported.length === 0 ? [] : [`not imported: ${notImported.map(({ dir }) => dir).join(", ")}`]),
    ...(first === undefined
      ? []
      : [
          `not decided: ${first.name}: ${first.why}${others === 0 ? "" : ` (and ${formatCount(others, "more metric")})`}`,
        ]),
    ...tooFewLines(tooFew),
    ...(trends.length === 0 ? ["no run measured anything"] : []),
  ];
  if (regressed.length + vanished.length > 0) return { verdict: "fail", reasons };
  const isOpen = open.length + notImported.length + lostChecks.length > 0 || undecided.length === trends.length;
  return { verdict: isOpen ? "inconclusive" : "pass", reasons };
}

/** `chatty got worse in the run of 2026-11-21 14:09:55 UTC: ttft_ms p50 +31.0 %, admitted_per_s -8.2 % and 2 more metrics`. */
function regressedLines(regressed: readonly Trend[]): string[] {
  const byChange = groupBy(regressed, ({ group, changePoint }) => JSON.stringify([group, changePoint?.runId]));
  return [...byChange.values()].map((some) => {
    const [{ group, changePoint }] = some;
    const named = mostImportantFirst(some)
      .slice(0, MAX_WORSE)
      .map((trend) => `${trend.name} ${changeText(trend, trend.change)}`);
    const more = some.length - named.length;
    const others = more === 0 ? "" : ` and ${formatCount(more, "more metric")}`;
    const when = changePoint === null ? "" : ` in the run of ${utc(changePoint.startedAt)}`;
    return `${group.name} got worse${when}: ${named.join(", ")}${others}`;
  });
}

/** Maximum number of metrics named in one line. */
const MAX_WORSE = 3;

/** `no trend yet, 8 runs are needed: starter has 1 run, api has 2 series with at most 3 runs each (their workloads differ)`. */
function tooFewLines(trends: readonly Trend[]): string[] {
  if (trends.length === 0) return [];
  const byName = [...groupBy(trends, ({ group }) => group.name)];
  const named = byName.slice(0, MAX_NAMED).map(([name, some]) => {
    const series = [...groupBy(some, ({ group }) => JSON.stringify(group)).values()].map(([{ group }]) => group);
    const runs = formatCount(Math.max(...some.map(({ values }) => values.length)), "run");
    if (series.length === 1) return `${name} has ${runs}`;
    return `${name} has ${series.length} series with at most ${runs} each (their ${differencesOf(series)} differ)`;
  });
  const more = byName.length > MAX_NAMED ? ` and ${byName.length - MAX_NAMED} more` : "";
  return [`no trend yet, ${MIN_RUNS} runs are needed: ${named.join(", ")}${more}`];
}

/** How series with the same name differ: `workloads and machines`. */
function differencesOf(series: readonly Group[]): string {
  const parts = ["target", "address", "workload", "machine"] as const;
  const differing = parts.filter((part) => new Set(series.map((group) => group[part])).size > 1);
  return LIST.format(differing.map((part) => PLURALS[part]));
}

const PLURALS = { target: "targets", address: "addresses", workload: "workloads", machine: "machines" };
const LIST = new Intl.ListFormat("en-GB");

const MAX_NAMED = 5;

function lostLines(lost: readonly LostCheck[]): string[] {
  const lines = lost.slice(0, MAX_NAMED).map(({ id, runId, now, decided, of }) => {
    const what = now === null ? "has no result" : `is ${now}`;
    return `${id} ${what} in run ${runId}; ${decided} of ${of} earlier runs decided it`;
  });
  return lost.length > MAX_NAMED ? [...lines, `and ${lost.length - MAX_NAMED} more lost checks`] : lines;
}
