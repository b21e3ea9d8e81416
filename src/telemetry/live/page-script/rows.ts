import type { LatencyTable } from "../../../../reports/index.ts";
import type { LivePhase, LiveSecond, LiveThreshold } from "../live-feed.ts";
import { CHARTS, type ChartOptions, valuesAt, valueText } from "./chart.ts";
import { make, whole } from "./dom.ts";

const COUNTS = ["offered", "admitted", "denied", "failed", "invalid", "dropped"] as const;
const TONES = { pass: "good", warn: "held", fail: "bad", inconclusive: "held", "not-applicable": "" };

export interface Column {
  readonly title: string;
  readonly read: (second: LiveSecond) => string;
}

export const columnsOf = (charts: readonly ChartOptions[]): readonly Column[] => [
  { title: "Second", read: ({ atS }) => String(Math.round(atS)) },
  ...charts.flatMap((chart) =>
    chart.series.map(
      ({ name, read }): Column => ({
        title: `${chart.prefix ?? ""}${name}`,
        read: (second) => valueText(chart, read(second)),
      }),
    ),
  ),
];

/** Those with something to draw: not the latencies of a mode that a run does not have. */
export const chartsWith = (seconds: readonly LiveSecond[]): readonly ChartOptions[] =>
  CHARTS.filter(
    ({ unit, series }) => unit === "" || seconds.some((second) => series.some(({ read }) => read(second) !== null)),
  );

export function headerCell(text: string, scope: "col" | "row" | "rowgroup"): HTMLTableCellElement {
  const cell = make("th", text);
  cell.scope = scope;
  return cell;
}

/** Applies the thresholds to the only phase of a load. With several phases, a threshold covers the load as a whole, not one phase. */
export function applyThresholds(thresholds: readonly LiveThreshold[], phase: LivePhase): LivePhase {
  const has = (expected: LiveThreshold["outcome"]) => thresholds.some(({ outcome }) => outcome === expected);
  if (has("broken")) return { ...phase, verdict: "fail" };
  return has("undecided") && phase.verdict === "pass" ? { ...phase, verdict: "inconclusive" } : phase;
}

export function phaseRow({ phase, verdict, elapsedS, counts }: LivePhase): HTMLElement {
  const row = make("tr");
  row.append(
    headerCell(phase, "row"),
    make("td", verdict ?? "running", verdict === null ? "" : TONES[verdict]),
    make("td", `${Math.round(elapsedS)} s`),
    ...COUNTS.map((name) => make("td", whole(counts[name]))),
  );
  return row;
}

const THRESHOLD_STATES = {
  met: ["met", "good"],
  broken: ["crossed", "bad"],
  undecided: ["open", "held"],
  observed: ["observed", ""],
} as const;

/** @param isRunning whether the state may still change. */
export function thresholdRow({ threshold, outcome, value }: LiveThreshold, isRunning: boolean): HTMLElement {
  const [soFar, tone] = THRESHOLD_STATES[outcome];
  const state = outcome === "undecided" && !isRunning ? "inconclusive" : soFar;
  const row = make("tr");
  row.append(
    headerCell(threshold, "row"),
    make("td", isRunning && outcome !== "undecided" ? `${state} so far` : state, tone),
    make("td", value),
  );
  return row;
}

export function denials(phases: readonly LivePhase[]): HTMLElement[] {
  const counts = new Map<string, number>();
  for (const phase of phases)
    for (const { reason, count } of phase.denials) counts.set(reason, (counts.get(reason) ?? 0) + count);
  const items = [...counts].sort(([, a], [, b]) => b - a);
  return items.map(([reason, count]) => make("li", `${whole(count)} × ${reason}`));
}

export function secondRow(second: LiveSecond, columns: readonly Column[]): HTMLElement {
  const row = make("tr");
  row.append(...columns.map(({ read }) => make("td", read(second))));
  return row;
}

export function readingOf(second: LiveSecond, charts: readonly ChartOptions[]): string {
  const values = charts.map((chart) => `${chart.prefix ?? ""}${valuesAt(chart, second)}`);
  return `${Math.round(second.atS)} s, ${second.phase}: ${values.join("; ")}`;
}

/** The parts of a table of latencies: its head, and for each kind of request a row group with a row for each latency. */
export function latencyParts({ stats, kinds }: LatencyTable): HTMLElement[] {
  const head = make("thead");
  const columns = make("tr");
  columns.append(...["Requests", ...stats].map((stat) => headerCell(stat, "col")));
  head.append(columns);
  const groups = kinds.map(({ kind, requests, rows }) => {
    const group = make("tbody");
    const first = make("tr");
    const title = headerCell(`${kind}, ${requests === 1 ? "1 request" : `${whole(requests)} requests`}`, "rowgroup");
    title.colSpan = stats.length + 1;
    first.append(title);
    const figures = rows.map(({ name, cells }) => {
      const row = make("tr");
      row.append(headerCell(name, "row"), ...cells.map((cell) => make("td", cell)));
      return row;
    });
    group.append(first, ...figures);
    return group;
  });
  return [head, ...groups];
}
