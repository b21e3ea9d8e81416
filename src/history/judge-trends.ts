import type { StoredRun } from "./history-file.ts";
import type { Trend } from "./trends.ts";

/** A history as it is printed and rendered. */
export interface HistoryReport {
  readonly file: string;
  /** Runs that were new to the file, and those that it had already. */
  readonly imported: number;
  readonly known: number;
  readonly notImported: readonly { readonly dir: string; readonly why: string }[];
  /** Oldest first. */
  readonly runs: readonly StoredRun[];
  readonly trends: readonly Trend[];
  readonly verdict: "pass" | "fail" | "inconclusive";
  readonly reasons: readonly string[];
}

/** Figures of the tails are shown and can fail; that one of them is not decided does not hold up the rest. */
const TAIL = / p99$/;

/** What the trends add up to: a pass only where every metric but those of the tails was decided. */
export function judgeTrends(
  trends: readonly Trend[],
  notImported: HistoryReport["notImported"],
): Pick<HistoryReport, "verdict" | "reasons"> {
  const of = (verdict: Trend["verdict"]) => trends.filter((trend) => trend.verdict === verdict);
  const regressed = of("regressed");
  const undecided = of("inconclusive");
  const open = undecided.filter(({ name }) => !TAIL.test(name));
  const [first] = open.length > 0 ? open : undecided;
  const reasons = [
    ...regressed.map(({ name, group, why }) => `${group.name}: ${name} regressed: ${why}`),
    ...(notImported.length === 0 ? [] : [`not imported: ${notImported.map(({ dir }) => dir).join(", ")}`]),
    ...(first === undefined
      ? []
      : [`${undecided.length} of ${trends.length} metrics not decided: ${first.name}: ${first.why}`]),
    ...(trends.length === 0 ? ["no run has a metric"] : []),
  ];
  if (regressed.length > 0) return { verdict: "fail", reasons };
  const isOpen = open.length + notImported.length > 0 || undecided.length === trends.length;
  return { verdict: isOpen ? "inconclusive" : "pass", reasons };
}
