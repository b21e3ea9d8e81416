/** Tables of loads for the job summary and the comment on a pull request, in Markdown. */

import { formatCount, formatNumber } from "../../src/core/index.ts";
import {
  checksOfThresholds,
  type LoadPhase,
  type LoadRun,
  type RunRecord,
  statusOfFinding,
  statusOfPhase,
} from "../../src/record/index.ts";
import { headlinePhase, latenciesOf, latencyLegend, latencyTitle } from "../figures/latency-table.ts";
import { SHOWN_STATS } from "../figures/quantiles.ts";
import { steadyText, throughputOf } from "../figures/throughput.ts";
import { code, inline } from "../markdown-text.ts";
import { SIGNS } from "../status-style.ts";
import { describeFacts } from "../text/index.ts";

/** Maximum number of thresholds of a load. */
const MAX_THRESHOLDS = 20;
/** Maximum number of loads and of phases in a comment, which is shorter than a summary. */
const MAX_LOADS = 3;
const MAX_PHASES = 10;
/** What a comment shows of the latencies. */
const COMMENT_LATENCIES: readonly string[] = ["TTFT", "E2E"];
const COMMENT_STATS = ["p50", "p95", "p99"] as const;

type Latencies = ReturnType<typeof latenciesOf>;

/** What loads measured, for a comment that has nothing to compare it with. */
export function measuredPart(record: RunRecord, runs: readonly LoadRun[]): string[] {
  const shown = runs.slice(0, MAX_LOADS);
  if (shown.length === 0) return [];
  const [head = "", separator = "", ...phases] = outcomesTable(record, shown);
  const latencies = shown.map((run) => ({ run, kinds: latenciesInComment(run) }));
  const tables = latencies.map(({ run, kinds }) => latencyTable(run, kinds, COMMENT_STATS).join("\n"));
  const omitted = [
    ...(phases.length > MAX_PHASES ? [formatCount(phases.length - MAX_PHASES, "more phase")] : []),
    ...(runs.length > MAX_LOADS ? [formatCount(runs.length - MAX_LOADS, "more load")] : []),
  ];
  const parts = [
    generatorNote(runs) ?? "",
    [head, separator, ...phases.slice(0, MAX_PHASES)].join("\n"),
    shown.flatMap((run) => steadyRate(run) ?? []).join("\n\n"),
    ...tables,
    latencyLegend(latencies.flatMap(({ kinds }) => kinds))
      .map(inline)
      .join("; "),
    omitted.length === 0 ? "" : `The report has ${omitted.join(" and ")}.`,
  ];
  return parts.filter((part) => part !== "");
}

function latenciesInComment(run: LoadRun): Latencies {
  const columns = COMMENT_STATS.map((stat) => SHOWN_STATS.indexOf(stat));
  return latenciesOf(run).map((kind) => ({
    ...kind,
    rows: kind.rows
      .filter(({ name }) => COMMENT_LATENCIES.includes(name))
      .map(({ name, cells }) => ({ name, cells: columns.map((column) => cells[column] ?? "") })),
  }));
}

/** `checkout: 39.8 admitted/s in the steady state from 4 s to 14 s, 31.7/s until the last response.`; `undefined` if they are equal, and for a tier, whose limit is per minute. */
function steadyRate(run: LoadRun): string | undefined {
  const phase = headlinePhase(run);
  if (phase === undefined || run.kind === "tier") return undefined;
  const { admittedPerS, steady } = throughputOf(phase);
  const [within, all] = [admittedPerS, phase.rates.admitted].map((rate) => formatNumber(rate, 1));
  if (steady === undefined || within === all) return undefined;
  const name = run.phases.length > 1 ? `${run.name}, ${phase.name}` : run.name;
  return `${inline(name)}: ${within} admitted/s in the ${steadyText(steady)}, ${all}/s until the last response.`;
}

/** Names the loads whose figures say nothing about the gateway. */
export function generatorNote(runs: readonly LoadRun[]): string | undefined {
  const invalid = runs.filter(({ generator }) => !generator.valid).map(({ name }) => inline(name));
  if (invalid.length === 0) return undefined;
  return `The generator exceeded its bounds in ${invalid.join(", ")}: these figures say nothing about the gateway.`;
}

/** A line per phase, after the two of the header: what was sent and the outcomes. */
export function outcomesTable({ checks }: RunRecord, runs: readonly LoadRun[]): string[] {
  const rows = runs.flatMap((run) =>
    run.phases.map((phase) => {
      const { sent, admitted, denied, failed, invalid } = phase;
      const counts = [sent, admitted, denied, failed, invalid].map((count) => formatNumber(count));
      const cells = [inline(run.name), inline(phase.name), statusOfPhase(checks, run, phase) ?? "", ...counts];
      return `| ${[...cells, rateText(phase)].join(" | ")} |`;
    }),
  );
  const head = "| run | phase | verdict | sent | admitted | denied | failed | invalid | admitted/s |";
  return [head, "|---|---|---|--:|--:|--:|--:|--:|--:|", ...rows];
}

/** `29.8 (29.5–30.1)`. */
function rateText({ rates }: LoadPhase): string {
  const [value, ...ends] = [rates.admitted, ...(rates.intervals?.admitted ?? [])].map((rate) => formatNumber(rate, 1));
  return ends.length === 0 ? `${value}` : `${value} (${ends.join("–")})`;
}

/** The latencies of a run by kind of request. @param stats the statistics of the cells. */
export function latencyTable(
  run: LoadRun,
  latencies: Latencies,
  stats: readonly string[] = SHOWN_STATS,
): readonly string[] {
  const rows = latencies.flatMap(({ kind, requests, rows: some }) =>
    some.map(({ name, cells }) => `| ${inline(name)} | ${kind} | ${formatNumber(requests)} | ${cells.join(" | ")} |`),
  );
  if (rows.length === 0) return [];
  const head = `| ${inline(run.name)}: ${latencyTitle(run)} | kind | requests | ${stats.join(" | ")} |`;
  return [head, `|---|---|--:|${stats.map(() => "--:|").join("")}`, ...rows];
}

/** The thresholds of a run, each with its value. */
export function thresholdsPart({ checks }: RunRecord, run: LoadRun): string[] {
  const findings = checksOfThresholds(checks, run).flatMap((check) => check.findings);
  if (findings.length === 0) return [];
  const rows = findings.map(
    (finding) => `| ${SIGNS[statusOfFinding(finding)]} | ${code(finding.name)} | ${inline(describeFacts(finding))} |`,
  );
  return ["", `| | threshold of ${inline(run.name)} | value |`, "|---|---|---|", ...rows.slice(0, MAX_THRESHOLDS)];
}
