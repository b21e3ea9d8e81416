import { formatCount } from "../../src/core/index.ts";
import type { RunRecord } from "../../src/record/index.ts";

/** What a history found. */
export interface HistoryFacts {
  readonly verdict: Exclude<RunRecord["verdict"]["result"], "error">;
  /** Number of metrics, and of those without a decision. */
  readonly metrics: number;
  readonly undecided: number;
  /** Names of the metrics that got worse. */
  readonly regressed: readonly string[];
  /** Checks that most earlier runs decided: without a result in the latest run, and with one that decides nothing. */
  readonly vanished: number;
  readonly lost: number;
  readonly notImported: number;
  /** Number of all runs. */
  readonly runs: number;
  /** Runs of the longest and of the shortest series, and the number that a trend needs. */
  readonly longest: number;
  readonly shortest: number;
  readonly needed: number;
}

/** The verdict of a history in one word: `collecting` if nothing but the number of runs prevents a verdict. */
export const historyWord = (facts: HistoryFacts): "pass" | "fail" | "inconclusive" | "collecting" =>
  isCollecting(facts) ? "collecting" : facts.verdict;

function isCollecting({ verdict, metrics, vanished, lost, notImported, longest, needed }: HistoryFacts): boolean {
  return verdict === "inconclusive" && metrics > 0 && vanished + lost + notImported === 0 && longest < needed;
}

/** What decided the verdict of a history, most important first: all that fails it, or else all that leaves it open. */
export function describeHistory(facts: HistoryFacts): string {
  const { verdict, metrics, undecided, regressed, vanished, lost, notImported, runs, longest, shortest, needed } =
    facts;
  const soFar = shortest === longest ? `${longest}` : `${shortest} to ${longest}`;
  if (isCollecting(facts)) return `${soFar} of the ${needed} runs that a trend needs`;
  const [first] = regressed;
  const worse =
    first === undefined
      ? []
      : [
          `${formatCount(regressed.length, "metric")} got worse and ${regressed.length === 1 ? "has" : "have"} stayed worse: ${first}`,
        ];
  const failed = [
    ...worse.map((text) => (regressed.length > 1 ? `${text}, …` : text)),
    ...(vanished === 0
      ? []
      : [`${formatCount(vanished, "check")} that earlier runs decided ${vanished === 1 ? "has" : "have"} no result`]),
  ];
  const open = [
    ...(lost === 0
      ? []
      : [`${formatCount(lost, "check")} that earlier runs decided ${lost === 1 ? "is" : "are"} no longer decided`]),
    ...(notImported === 0 ? [] : [`${formatCount(notImported, "run")} could not be imported`]),
    ...(metrics === 0 ? [nothingMeasured(runs)] : []),
    ...(metrics > 0 && undecided > 0 ? [`${undecided} of ${formatCount(metrics, "metric")} could not be decided`] : []),
  ];
  if (verdict === "pass")
    return undecided === 0
      ? "no metric got worse"
      : `no metric got worse; ${undecided} of ${formatCount(metrics, "metric")} could not be decided`;
  return (verdict === "fail" ? failed : open).join("; ");
}

const nothingMeasured = (runs: number): string =>
  `nothing was measured in ${formatCount(runs, "run")}: no check was decided and no load completed`;
