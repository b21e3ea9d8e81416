import { formatCount } from "../../src/core/index.ts";
import type { ComparedMetric, RunRecord } from "../../src/record/index.ts";
import { oneLine } from "../clean-text.ts";
import type { Colors } from "./options.ts";
import { figures, terminalTable } from "./table.ts";
import { paintedHeadline } from "./verdict-lines.ts";

const MAX_DRIFT = 30;
const MAX_CHECKS = 12;

/** A comparison for the terminal: figures in a table, then other changes, the verdict last. */
export function renderComparison({ comparison, verdict }: RunRecord, colors: Colors): string {
  if (comparison === undefined) return "";
  const { metrics, checks, drift, control, reasons } = comparison;
  const changed = [
    ...checks.newlyFailing.map(({ id, message }) =>
      colors.red(`✗ newly failing ${oneLine(id)}: ${oneLine(message, 160)}`),
    ),
    ...checks.vanished.map(({ id }) => colors.red(`✗ vanished ${oneLine(id)}`)),
    ...checks.worse.map(({ id, message }) => colors.red(`✗ newly warning ${oneLine(id)}: ${oneLine(message, 160)}`)),
    ...checks.lost.map(({ id, now, message }) =>
      colors.yellow(`? no longer decided ${oneLine(id)} (${now}): ${oneLine(message, 160)}`),
    ),
    ...checks.fixed.map(({ id }) => colors.green(`✓ fixed ${oneLine(id)}`)),
  ];
  const lines = [
    ...(metrics.length === 0 ? [] : [table(metrics)]),
    ...changed.slice(0, MAX_CHECKS),
    ...(changed.length > MAX_CHECKS ? [`and ${changed.length - MAX_CHECKS} more changed check instances`] : []),
    // A missing field matters more than a missing header, and there are many headers.
    ...[...drift]
      .sort((a, b) => Number(a.kind === "header") - Number(b.kind === "header"))
      .slice(0, MAX_DRIFT)
      .map(({ kind, where, what, before, now }) =>
        colors.yellow(
          `▲ ${oneLine(where, 80)}: ${differenceName(kind, oneLine(what, 80))} ${oneLine(before, 80)} → ${oneLine(now, 80)}`,
        ),
      ),
    ...(drift.length > MAX_DRIFT ? [`and ${drift.length - MAX_DRIFT} more differences`] : []),
    ...(control === null ? [] : [colors.dim(`A/A control: ${oneLine(control.message, 200)}`)]),
    ...reasons.map((reason) => `  ${oneLine(reason, 300)}`),
  ];
  const sides = [comparison.a, comparison.b].map(({ label, runId, startedAt }, index) => {
    const run = runId === undefined || startedAt === undefined ? "" : ` (run ${runId}, ${startedAt.slice(0, 10)})`;
    return `  ${"AB"[index]}: ${oneLine(label, 120)}${run}`;
  });
  const end = [
    paintedHeadline(verdict, colors),
    ...sides,
    ...failingText(checks.newlyFailing),
    ...mainFigures(metrics),
  ];
  return `${[...lines, ...end].join("\n")}\n`;
}

/** `  10 check instances fail in B and did not in A: chat.every-usage and 9 more`. */
function failingText([first, ...more]: readonly { readonly id: string }[]): string[] {
  if (first === undefined) return [];
  const others = more.length === 0 ? "" : ` and ${more.length} more`;
  const verb = more.length === 0 ? "fails" : "fail";
  return [
    `  ${formatCount(more.length + 1, "check instance")} ${verb} in B and did not in A: ${oneLine(first.id)}${others}`,
  ];
}

const MAX_FIGURES = 3;

/** The figures that decided, or the first ones: `  E2E p50: 420.0 ms in A, 436.2 ms in B (+3.9 %, not worse)`. */
function mainFigures(metrics: readonly ComparedMetric[]): string[] {
  const order: readonly ComparedMetric["verdict"][] = ["regressed", "improved", "not worse", "inconclusive"];
  const measured = metrics.filter(({ a, b }) => a !== null && b !== null);
  const rank = ({ verdict, unit }: ComparedMetric) => order.indexOf(verdict) * 2 + Number(unit !== "ms");
  const sorted = [...measured].sort((one, other) => rank(one) - rank(other));
  return sorted.slice(0, MAX_FIGURES).map((metric) => {
    const { name, a, b, change, unit, verdict } = metric;
    const shown = unit === "share" ? "" : ` ${unit}`;
    const verdictText = verdict === "inconclusive" ? "not decided" : verdict;
    return `  ${oneLine(name, 60)}: ${number(metric, a)}${shown} in A, ${number(metric, b)}${shown} in B (${percent(change)}, ${verdictText})`;
  });
}

/** `status`, `header x-request-id`, `error text`: what differs, with its kind unless it says so itself. */
function differenceName(kind: string, what: string): string {
  return what.split(" ").includes(kind) ? what : `${kind} ${what}`;
}

function table(metrics: readonly ComparedMetric[]): string {
  const columns = [
    "figure",
    ...figures("A", "B", "change", "90 % interval", "margin", "p (Holm)", "detectable"),
    "verdict",
  ];
  const rows = metrics.map((metric) => {
    const { name, a, b, change, low, high, margin, pHolm, detectable, verdict } = metric;
    return [
      oneLine(name, 60),
      number(metric, a),
      number(metric, b),
      percent(change),
      low === null || high === null ? "–" : `${percent(low)} … ${percent(high)}`,
      margin === 0 ? "–" : `${(margin * 100).toFixed(1)} %`,
      pHolm === null ? "–" : pHolm.toFixed(3),
      detectable === null ? "–" : `${(detectable * 100).toFixed(1)} %`,
      verdict,
    ];
  });
  return terminalTable(columns, rows);
}

function number({ unit }: ComparedMetric, value: number | null): string {
  if (value === null) return "–";
  return unit === "share" ? `${(value * 100).toFixed(2)} %` : value.toFixed(1);
}

function percent(value: number | null): string {
  if (value === null) return "–";
  return `${value < 0 ? "−" : "+"}${Math.abs(value * 100).toFixed(1)} %`;
}
