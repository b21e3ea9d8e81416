import { formatCount, formatNumber, groupBy, utc } from "../../src/core/index.ts";
import {
  changedFirst,
  changeText,
  type HistoryReport,
  MIN_RUNS,
  type Trend,
  valueText,
} from "../../src/history/index.ts";
import { oneLine } from "../clean-text.ts";
import {
  byGroup,
  factsOfHistory,
  mainTrends,
  runsWithoutValues,
  sparkline,
  TREND_STATUS,
} from "../figures/history-figures.ts";
import { describeExitCode, describeHistory, historyWord } from "../text/index.ts";
import { type Colors, painter } from "./options.ts";
import { figures, terminalTable } from "./table.ts";

/** A history for the terminal: a table for each group of comparable runs with a trend, the verdict, and the exit code last. */
export function renderHistory(
  history: HistoryReport,
  colors: Colors,
  { exitCode, gate }: { readonly exitCode: number; readonly gate: boolean },
): string {
  const { file, notImported, runs, trends, verdict, reasons } = history;
  const paint = painter(colors);
  const facts = factsOfHistory(history);
  const all = byGroup(trends);
  const known = all.filter((group) => hasTrend(group) || isOfLatestRun(group, runs));
  const nonZero = known.filter((group) => !isZero(group.trends));
  const groups = nonZero.length > 0 ? nonZero : known;
  const lines = [
    colors.dim(
      `${oneLine(file)}: ${[...importedText(history), `${formatCount(runs.length, "run")} shown`].join("; ")}`,
    ),
    ...notImported.map(({ dir, why }) => colors.yellow(`not imported: ${oneLine(dir)}: ${oneLine(why)}`)),
    ...groups.flatMap(({ group, trends: some }) => [
      colors.bold(oneLine(`${group.target} at ${group.address}, ${group.name}`, 120)),
      colors.dim(`measured on ${group.machine === "any" ? "any machine" : oneLine(group.machine, 160)}`),
      ...tableOf(some, runs, colors),
      ...withoutValue(some).map((line) => colors.yellow(line)),
      ...gapLines(some).map((line) => colors.dim(line)),
    ]),
    ...othersText(all.filter((group) => !groups.includes(group) && !isZero(group.trends))),
    // The verdict of a short history, or of one without metrics, says the same.
    ...((historyWord(facts) === "collecting" && all.length === 1) || trends.length === 0 ? [] : reasons).map(
      (reason) => `  ${oneLine(reason, 300)}`,
    ),
    paint(verdict, colors.bold(`${historyWord(facts).toUpperCase()}: ${oneLine(describeHistory(facts), 300)}`)),
    exitLine(history, { exitCode, gate }),
  ];
  return `${lines.join("\n")}\n`;
}

/** Only `--gate` makes the exit code follow the verdict, so the last line says what it would be. */
function exitLine(
  { verdict }: HistoryReport,
  { exitCode, gate }: { readonly exitCode: number; readonly gate: boolean },
): string {
  if (gate) return `${describeExitCode(exitCode)}${exitCode === 0 ? "" : ", because of --gate"}`;
  return `exit code ${exitCode}${verdict === "pass" ? "" : ` (with --gate: ${verdict === "fail" ? 1 : 4})`}`;
}

/** Why metrics have no value in the latest run, one line per reason. */
function withoutValue(trends: readonly Trend[]): string[] {
  const missing = groupBy(
    trends.filter(({ isMissing }) => isMissing === true),
    ({ why }) => why,
  );
  return [...missing].map(([why, some]) => `  ${formatCount(some.length, "metric")}: ${oneLine(why, 300)}`);
}

/** Older runs without any value, which the sparklines show as dots. */
function gapLines(trends: readonly Trend[]): string[] {
  const gaps = runsWithoutValues(trends);
  const lines = gaps
    .slice(-MAX_GAPS)
    .map(
      ({ runId, startedAt, why }) =>
        `  · run ${oneLine(runId, 40)} of ${utc(startedAt)} has no values: ${oneLine(why, 200)}`,
    );
  return gaps.length > MAX_GAPS
    ? [`  · ${formatCount(gaps.length - MAX_GAPS, "older run")} without values`, ...lines]
    : lines;
}

/** Number of runs without values whose reasons are printed. */
const MAX_GAPS = 3;

/** Whether a group has a table: at least two values of a metric, or a latest run without a value. */
const hasTrend = ({ trends }: Pick<HistoryReport, "trends">): boolean =>
  trends.some(({ values, isTooShort }) => values.length > 1 || isTooShort !== true);

/** Whether the only values of a group come from the latest run. */
const isOfLatestRun = ({ trends }: Pick<HistoryReport, "trends">, runs: HistoryReport["runs"]): boolean =>
  trends.some(({ values }) => values.length === 1 && values[0]?.runId === runs.at(-1)?.runId);

/** `  2 more series: starter, checks; add --html trends.html to see all`: those that have no table. */
function othersText(others: ReturnType<typeof byGroup>): string[] {
  if (others.length === 0) return [];
  const names = [...new Set(others.map(({ group }) => oneLine(group.name, 40)))];
  const listed = names.slice(0, MAX_NAMED).join(", ");
  const more = names.length > MAX_NAMED ? ", …" : "";
  return [`  ${others.length} more series: ${listed}${more}; add --html trends.html to see all`];
}

const MAX_NAMED = 5;

/** Whether a table would contain only zeros, for example because no check ever failed. Such a table is omitted if there are others. */
const isZero = (trends: readonly Trend[]): boolean =>
  trends.every(({ values, gaps }) => gaps.length === 0 && values.every(({ value }) => value === 0));

/** Metrics of a group that has too few runs for any trend. */
const MAX_EARLY = 6;

/** The table of a group in which only one run has values. */
function firstTable(all: readonly Trend[]): string[] {
  const trends = mainTrends(all, MAX_EARLY, 1);
  const more = all.length - trends.length;
  return [
    terminalTable(
      ["metric", ...figures("latest")],
      trends.map((trend) => [oneLine(trend.name, 80), valueText(trend, trend.latest)]),
    ),
    ...moreText(more),
  ];
}

const moreText = (more: number): string[] =>
  more > 0 ? [`  ${formatCount(more, "more metric")}: add --html trends.html to see all`] : [];

function tableOf(all: readonly Trend[], runs: HistoryReport["runs"], colors: Colors): string[] {
  if (!hasTrend({ trends: all })) return firstTable(all);
  const isEarly = all.every(({ values }) => values.length < MIN_RUNS);
  const hasLost = all.some(({ isMissing }) => isMissing === true);
  const trends = isEarly ? mainTrends(all, MAX_EARLY, hasLost ? 1 : 2) : changedFirst(all);
  const more = all.length - trends.length;
  const columns = [
    "metric",
    ...figures("runs"),
    "values",
    ...figures("latest", "median before", "change"),
    ...(isEarly ? [] : ["changed in the run of", "trend"]),
  ];
  const paint = painter(colors);
  const rows = trends.map((trend) => {
    const { name, values, latest, medianBefore, change, changePoint, verdict, isMissing } = trend;
    return [
      oneLine(name, 80),
      values.length,
      sparkline(trend),
      isMissing === true ? "no value" : valueText(trend, latest),
      valueText(trend, medianBefore),
      isMissing === true ? "–" : changeText(trend, change),
      ...(isEarly
        ? []
        : [changePoint === null ? "–" : runText(changePoint, runs), paint(TREND_STATUS[verdict], verdict)]),
    ];
  });
  return [terminalTable(columns, rows), ...moreText(more)];
}

/** A run by its start and its folder, or else its build: `2026-11-21 14:09:55 UTC (runs/b1)`. */
function runText({ runId, startedAt, build }: NonNullable<Trend["changePoint"]>, runs: HistoryReport["runs"]): string {
  const which = runs.find((run) => run.runId === runId)?.folder ?? build;
  return which === null ? utc(startedAt) : `${utc(startedAt)} (${oneLine(which, 40)})`;
}

/** How much was imported; empty if there was nothing to import. */
function importedText({ imported, known, comparisons }: HistoryReport): string[] {
  if (imported + known + comparisons === 0) return [];
  const skipped = comparisons === 0 ? "" : `, ${formatCount(comparisons, "comparison")} skipped`;
  return [`${formatCount(imported, "run")} imported, ${formatNumber(known)} already there${skipped}`];
}
