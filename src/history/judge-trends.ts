import type { StoredRun } from "./history-file.ts";
import type { LostCheck } from "./lost-checks.ts";
import type { Trend } from "./trends.ts";

/** A history for printing and rendering. */
export interface HistoryReport {
  readonly file: string;
  /** Runs that were new to the file, and those already in it. */
  readonly imported: number;
  readonly known: number;
  readonly notImported: readonly { readonly dir: string; readonly why: string }[];
  /** Oldest first. */
  readonly runs: readonly StoredRun[];
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
  const [first] = open.length > 0 ? open : undecided;
  const vanished = lostChecks.filter(({ now }) => now === null);
  const reasons = [
    ...regressed.map(({ name, group, why }) => `${group.name}: ${name} regressed: ${why}`),
    ...lostLines(lostChecks),
    ...(notImported.length === 0 ? [] : [`not imported: ${notImported.map(({ dir }) => dir).join(", ")}`]),
    ...(first === undefined
      ? []
      : [`${undecided.length} of ${trends.length} metrics not decided: ${first.name}: ${first.why}`]),
    ...(trends.length === 0 ? ["no run has a metric"] : []),
  ];
  if (regressed.length + vanished.length > 0) return { verdict: "fail", reasons };
  const isOpen = open.length + notImported.length + lostChecks.length > 0 || undecided.length === trends.length;
  return { verdict: isOpen ? "inconclusive" : "pass", reasons };
}

const MAX_NAMED = 5;

function lostLines(lost: readonly LostCheck[]): string[] {
  const lines = lost.slice(0, MAX_NAMED).map(({ id, runId, now, decided, of }) => {
    const what = now === null ? "has no result" : `is ${now}`;
    return `${id} ${what} in run ${runId}; ${decided} of ${of} earlier runs decided it`;
  });
  return lost.length > MAX_NAMED ? [...lines, `and ${lost.length - MAX_NAMED} more lost checks`] : lines;
}
