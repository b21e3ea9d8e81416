import { LATENCY_MARGINS } from "../../src/compare/index.ts";
import { formatCount, groupBy } from "../../src/core/index.ts";
import { type CheckChange, type Comparison, type RunRecord, separateRunBounds } from "../../src/record/index.ts";
import { checksOfCause } from "../causes.ts";
import { oneLine } from "../clean-text.ts";
import {
  type ChangesOfCause,
  changesByCause,
  describeComparison,
  figureChange,
  figureInterval,
  figureMargin,
  figureValue,
  figureVerdict,
  groupDrift,
  importantFirst,
  isMeasured,
  mainFigures,
  readFigure,
} from "../text/index.ts";
import type { Colors } from "./options.ts";
import { figures, terminalTable } from "./table.ts";
import { paintedHeadline } from "./verdict-lines.ts";

const MAX_DRIFT = 30;
const MAX_CHECKS = 12;

/** The checks whose result changed, the worst first; those that newly fail or warn with one cause together. */
export function changedChecks(
  { checks }: Pick<Comparison, "checks">,
  causes: RunRecord["causes"],
  colors: Colors,
): string[] {
  const changed = [
    ...changesByCause(checks.newlyFailing, causes).map((group) =>
      colors.red(newlyChangedLine("✗ newly failing", group)),
    ),
    ...checks.vanished.map(({ id }) => colors.red(`✗ vanished ${oneLine(id)}`)),
    ...changesByCause(checks.worse, causes).map((group) => colors.yellow(newlyChangedLine("▲ newly warning", group))),
    ...checks.lost.map(({ id, now, message }) =>
      colors.yellow(`? no longer decided ${oneLine(id)} (${now}): ${oneLine(message, 160)}`),
    ),
    ...checks.fixed.map(({ id }) => colors.green(`✓ fixed ${oneLine(id)}`)),
  ];
  const more = changed.length - MAX_CHECKS;
  return [...changed.slice(0, MAX_CHECKS), ...(more > 0 ? [`and ${formatCount(more, "more change")}`] : [])];
}

/** Number of checks of a cause that are named. */
const MAX_NAMED = 3;

/** `✗ newly failing, 9 check instances: expected 401, got 200`, and in a second line the first of them. */
function newlyChangedLine(what: string, { title, changes }: ChangesOfCause): string {
  const [first, ...others] = changes;
  if (title === undefined || others.length === 0) return `${what} ${oneLine(first.id)}: ${oneLine(first.message, 160)}`;
  const ids = checksOfCause({ checks: changes.map(({ id }) => id) }, MAX_NAMED);
  return `${what}, ${formatCount(changes.length, "check instance")}: ${oneLine(title, 160)}\n    in ${ids}`;
}

/** A comparison for the terminal: the conclusion, figures in a table, other changes, and the verdict last. */
export function renderComparison({ comparison, causes, verdict }: RunRecord, colors: Colors): string {
  if (comparison === undefined) return "";
  const { drift, control, reasons } = comparison;
  const groups = groupDrift(drift);
  const conclusion = oneLine(describeComparison(comparison), 600);
  const lines = [
    conclusion,
    ...table(comparison),
    ...(comparison.metrics.some(({ margin, unit }) => unit === "ms" && margin > 0)
      ? [colors.dim(`margins: ${LATENCY_MARGINS}`)]
      : []),
    ...(comparison.kind === "stored" &&
    comparison.metrics.some(({ unit, a, b }) => unit === "ms" && a !== null && b !== null)
      ? [colors.dim(separateRunBounds(comparison))]
      : []),
    ...changedChecks(comparison, causes, colors),
    // A missing field matters more than a missing header, and there are many headers.
    ...[...groups]
      .sort((a, b) => Number(a.isHeader) - Number(b.isHeader))
      .slice(0, MAX_DRIFT)
      .map(({ what, before, now, isByCheck, where: [first, ...more] }) => {
        const [one, many] = isByCheck
          ? ["check instance", "check instances"]
          : ["kind of response", "kinds of response"];
        const others = more.length === 0 ? "" : `, and ${formatCount(more.length, `more ${one}`, `more ${many}`)}`;
        const places = oneLine(first, 120) + others;
        return colors.yellow(`▲ ${oneLine(what, 80)}: ${oneLine(before, 80)} → ${oneLine(now, 80)} (${places})`);
      }),
    ...(groups.length > MAX_DRIFT ? [`and ${groups.length - MAX_DRIFT} more differences`] : []),
    // Above are the checks that changed, the figures that are worse or better, and what alone explains the conclusion.
    ...reasons
      .filter(({ detail, text }) => detail === undefined && !conclusion.includes(oneLine(text.replace(/\.$/, ""))))
      .map(({ text }) => oneLine(text, 1_000)),
    // An unfit control is one of the reasons.
    ...(control === null || reasons.some(({ text }) => text === control.message)
      ? []
      : [colors.dim(`control, ${oneLine(comparison.a.name, 40)} against itself: ${oneLine(control.message, 200)}`)]),
  ];
  const sides = [comparison.a, comparison.b].map(({ name, label, runId, startedAt }, side) => {
    const run = runId === undefined || startedAt === undefined ? "" : ` (run ${runId}, ${startedAt.slice(0, 10)})`;
    const column = tableNames(comparison)[side];
    return `  ${column === name ? "" : `${column}, `}${oneLine(name, 40)}: ${oneLine(label, 120)}${run}`;
  });
  const end = [
    paintedHeadline(verdict, colors),
    ...sides,
    ...changeLine(comparison, "fail", comparison.checks.newlyFailing),
    ...changeLine(comparison, "warn", comparison.checks.worse),
    ...mainFigures(comparison).map((figure) => `  ${oneLine(figure, 240)}`),
    ...(comparison.nextStep === undefined ? [] : [`  ${oneLine(comparison.nextStep, 400)}`]),
  ];
  return `${[...lines, ...end].join("\n")}\n`;
}

/** `  10 check instances fail in new and did not in old: chat.every-usage and 9 more`. */
function changeLine({ a, b }: Comparison, verb: "fail" | "warn", changes: readonly CheckChange[]): string[] {
  const [first, ...more] = changes;
  if (first === undefined) return [];
  const others = more.length === 0 ? "" : ` and ${more.length} more`;
  const what = `${formatCount(changes.length, "check instance")} ${more.length === 0 ? `${verb}s` : verb}`;
  return [`  ${what} in ${oneLine(b.name)} and did not in ${oneLine(a.name)}: ${oneLine(first.id)}${others}`];
}

/** Longest name of a side that the table of 80 columns has room for. */
const MAX_NAME = 10;

/** How the table names the two sides. */
function tableNames({ a, b }: Comparison): readonly [string, string] {
  const names = [oneLine(a.name), oneLine(b.name)] as const;
  return names.every(({ length }) => length <= MAX_NAME) ? names : ["A", "B"];
}

/** The figures that have values, grouped by kind of request; p-values are in the HTML report. */
function table(comparison: Comparison): string[] {
  const measured = importantFirst(comparison.metrics.filter(isMeasured));
  // One run of each side has no intervals and margins.
  const hasIntervals = measured.some(({ low, high }) => low !== null && high !== null);
  const columns = [
    "figure",
    ...figures(...tableNames(comparison), "change"),
    "verdict",
    ...(hasIntervals ? figures("90 % interval", "margin") : []),
  ];
  const groups = groupBy(measured, ({ name }) => readFigure(name).of ?? "all requests");
  const rows = [...groups].flatMap(([of, some]) => [
    [oneLine(of, 40), ...columns.slice(1).map(() => "")],
    ...some.map((metric) => {
      const { name, a, b, change, unit } = metric;
      const interval = figureInterval(metric)?.map((end) => end.split(" ")[0]);
      return [
        `  ${oneLine(readFigure(name).what, 40)}${unit === "ms" ? ", ms" : ""}`,
        figureValue(metric, a),
        figureValue(metric, b),
        figureChange(metric, change),
        figureVerdict(metric, comparison),
        ...(hasIntervals ? [interval === undefined ? "–" : `(${interval.join(" … ")})`, figureMargin(metric)] : []),
      ];
    }),
  ]);
  return rows.length === 0 ? [] : [terminalTable(columns, rows)];
}
