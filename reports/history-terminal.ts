import type { HistoryReport, Trend } from "../src/history/index.ts";
import { oneLine } from "./clean-text.ts";
import { byGroup, changeText, TREND_STATUS, valueText } from "./history-figures.ts";
import { type Colors, painter } from "./terminal-options.ts";
import { figures, terminalTable } from "./terminal-table.ts";

/** A history for the terminal: a table for each group of comparable runs, the verdict last. */
export function renderHistory(history: HistoryReport, colors: Colors): string {
  const { file, imported, known, notImported, runs, trends, verdict, reasons } = history;
  const paint = painter(colors);
  const lines = [
    colors.dim(`${oneLine(file)}: runs imported: ${imported}, known already: ${known}, shown: ${runs.length}`),
    ...notImported.map(({ dir, why }) => colors.yellow(`not imported: ${oneLine(dir)}: ${oneLine(why)}`)),
    ...byGroup(trends).flatMap(({ group, trends: some }) => [
      colors.bold(oneLine(`${group.target} at ${group.address}, ${group.name}`, 120)),
      colors.dim(oneLine(`workload ${group.workload}, measured on ${group.machine}`, 160)),
      tableOf(some, colors),
    ]),
    ...reasons.map((reason) => `  ${oneLine(reason, 300)}`),
    paint(verdict, colors.bold(`${verdict.toUpperCase()} ${sentenceOf(history)}`)),
  ];
  return `${lines.join("\n")}\n`;
}

function sentenceOf({ verdict, trends }: HistoryReport): string {
  const hasVanished = verdict === "fail" && trends.every((trend) => trend.verdict !== "regressed");
  return hasVanished ? "checks that earlier runs decided have no result" : SENTENCES[verdict];
}

const SENTENCES = {
  pass: "no metric got worse",
  fail: "a metric got worse and did not recover",
  inconclusive: "this is not a pass",
} as const satisfies Readonly<Record<HistoryReport["verdict"], string>>;

function tableOf(trends: readonly Trend[], colors: Colors): string {
  const columns = ["metric", ...figures("runs", "latest", "median before", "change"), "changed with run", "trend"];
  const paint = painter(colors);
  const rows = trends.map((trend) => {
    const { name, values, latest, medianBefore, change, changePoint, verdict } = trend;
    return [
      oneLine(name, 80),
      values.length,
      valueText(trend, latest),
      valueText(trend, medianBefore),
      changeText(trend, change),
      changePoint === null ? "–" : `${oneLine(changePoint.runId, 20)} (${changePoint.startedAt.slice(0, 10)})`,
      paint(TREND_STATUS[verdict], verdict),
    ];
  });
  return terminalTable(columns, rows);
}
