import { formatCount, formatNumber, groupBy } from "../src/core/index.ts";
import {
  type CheckResult,
  checkOfPhase,
  checksOfRun,
  type Finding,
  type Leak,
  type LoadPhase,
  type LoadRun,
  type RunRecord,
  type Status,
} from "../src/record/index.ts";
import { oneLine } from "./clean-text.ts";
import { isSupported, MIN_VALUES, type QuantileName } from "./supported.ts";
import type { Colors, TerminalOptions } from "./terminal-options.ts";
import { figures, terminalTable } from "./terminal-table.ts";
import { describeFinding } from "./text/index.ts";
import { verdictLines } from "./verdict-lines.ts";
import { amountText, droppedSeries, failedScrapes, slopeText } from "./watched-figures.ts";

/** The load part of a run for the terminal: phases in a table, violations below it, the verdict last. */
export function renderLoad(record: RunRecord, options: Omit<TerminalOptions, "evidence">): string {
  return [renderLoadRuns(record, options.colors), ...verdictLines(record, options)].join("\n").concat("\n");
}

export function renderLoadRuns({ checks, load }: RunRecord, colors: Colors): string {
  return (load?.runs ?? []).map((run) => renderRun(run, checksOfRun(checks, run), colors)).join("\n");
}

function renderRun(run: LoadRun, checks: readonly CheckResult[], colors: Colors): string {
  const limits =
    run.limits === null
      ? ""
      : `, ${formatNumber(run.limits.rpm)}/min and ${formatNumber(run.limits.inFlight)} in flight`;
  const counts = figures("offered", "sent", "admitted", "denied", "failed", "invalid", "dropped");
  const shown = FIGURES.filter((column) => run.phases.some((phase) => isShown(phase, column)));
  const rows = run.phases.map((phase) => [
    ...countsOf(phase, checkOfPhase(checks, run, phase)?.status ?? "not-applicable", colors),
    ...shown.map((column) => figure(phase, column)),
  ]);
  const columns = figures("in flight", ...shown.map(({ column }) => column));
  const table = terminalTable(["phase", "verdict", ...counts, ...columns], rows);
  const { generator, retryAfter } = run;
  const lines = [colors.bold(`${oneLine(run.name)} (${run.engine}${limits})`), table, ...omittedLines(run, shown)];
  for (const phase of run.phases) lines.push(...exactnessOf(phase));
  for (const phase of run.phases) lines.push(...invalidLines(phase, run.phases.length > 1));
  for (const check of checks) lines.push(...problemsOf(run, check, colors));
  if (retryAfter !== null && retryAfter.tested > 0) lines.push(`  Retry-After: ${waitsText(retryAfter)}`);
  for (const { name, goodput } of run.phases)
    if (goodput !== undefined)
      lines.push(`  goodput${run.phases.length > 1 ? ` of ${name}` : ""}: ${goodputText(goodput)}`);
  for (const { sessions } of run.phases) if (sessions !== undefined) lines.push(...sessionLines(sessions));
  const { scheduleLagMs: lag, loopDelayMs: loop } = generator;
  lines.push(
    `  load generator: schedule lag p50 ${lag.p50.toFixed(1)} p99 ${lag.p99.toFixed(1)} ms${loop === null ? "" : `, loop delay p99 ${loop.p99.toFixed(1)} ms`}, ${generator.cpuS.toFixed(1)} CPU s, ${Math.round(generator.peakRssBytes / 1e6)} MB`,
  );
  lines.push(...watchedLines(run, colors));
  for (const problem of generator.problems) lines.push(`  ${colors.yellow("?")} ${oneLine(problem)}`);
  return lines.join("\n");
}

/** Leaks of the target, and problems with scraping its metrics. */
function watchedLines({ watched }: LoadRun, colors: Colors): string[] {
  const { processes, metrics } = watched ?? {};
  const leaks = [...(processes?.leaks ?? []), ...(metrics?.leaks ?? [])].map((leak) => leakLine(leak, colors));
  const problems = metrics === undefined ? [] : [failedScrapes(metrics), droppedSeries(metrics.dropped)];
  const problemLines = problems.flatMap((problem) =>
    problem === undefined ? [] : [`${colors.yellow("?")} target's metrics: ${oneLine(problem)}`],
  );
  return [...leaks, ...problemLines].map((line) => `  ${line}`);
}

/** `target's memory: growth, 80.1 to 120.4 MiB, +2.10 MiB per minute (1.90 … 2.30)`. */
function leakLine(leak: Leak, colors: Colors): string {
  const { resource, verdict, first, last, message } = leak;
  const amounts = `${amountText(leak, first)} to ${amountText(leak, last)}`;
  const word = verdict === null ? colors.yellow(`not decided (${oneLine(message)})`) : verdict;
  return `target's ${oneLine(resource, 120)}: ${verdict === "growth" ? colors.yellow(word) : word}, ${amounts}, ${slopeText(leak)}`;
}

/** Lines for the violated and undecided findings of a check; equal lines are merged. */
function problemsOf(run: LoadRun, { id, findings }: CheckResult, colors: Colors): string[] {
  const place = id.slice(`load.${run.name}.`.length);
  const marks = { fail: colors.red("✗"), warn: colors.yellow("▲"), none: "" };
  // The sentence of a finding that is named after a requirement does not name it.
  const sentence = (finding: Finding) =>
    oneLine(`${finding.requirements.includes(finding.name) ? `${finding.name}: ` : ""}${describeFinding(finding)}`);
  const open = findings.filter(({ outcome }) => outcome === "undecided");
  const broken = findings.filter(({ outcome }) => outcome === "broken");
  return withoutRepeats([
    ...open.map((finding) => `  ${colors.yellow("?")} ${place} not decided: ${sentence(finding)}`),
    ...broken.map((finding) => `  ${marks[finding.weight]} ${place} ${sentence(finding)}`),
  ]);
}

/** Each distinct line once, with its number of occurrences if there are several. */
function withoutRepeats(lines: readonly string[]): string[] {
  return [...groupBy(lines, (line) => line)].map(([line, { length }]) =>
    length === 1 ? line : `${line} (${length} times)`,
  );
}

/** `waits of 60 of 641 denials tested, all sufficient`; small samples get no percentage. */
function waitsText({ tested, sufficient, sufficientShare, groups }: NonNullable<LoadRun["retryAfter"]>): string {
  const denials = groups.reduce((sum, group) => sum + group.denials, 0);
  const share = sufficientShare === null ? "" : ` (${(sufficientShare * 100).toFixed(1)} %)`;
  const result = sufficient === tested ? "all sufficient" : `${formatNumber(sufficient)} sufficient${share}`;
  return `waits of ${formatNumber(tested)} of ${formatCount(denials, "denial")} tested, ${result}`;
}

/** `18.2 requests/s and 412.0 tokens/s, 91.0 % of the arrivals; ttft_ms < 300: 95, …`. */
function goodputText({ requestsPerS, tokensPerS, share, objectives }: NonNullable<LoadPhase["goodput"]>): string {
  const tokens = tokensPerS === null ? "tokens unknown" : `${tokensPerS.toFixed(1)} tokens/s`;
  const ofAll = share === null ? "no arrivals" : `${(share * 100).toFixed(1)} % of the arrivals`;
  const each = objectives.map(({ text, met }) => `${met} met ${oneLine(text)}`).join(", ");
  return `${requestsPerS.toFixed(1)} requests/s and ${tokens}, ${ofAll} (${each})`;
}

/** Invalid replies by defect, and output in fields that no known client reads. */
function invalidLines({ name, invalidReplies, unknownFields }: LoadPhase, hasSeveral: boolean): string[] {
  const where = hasSeveral ? ` in ${oneLine(name)}` : "";
  const kinds = invalidReplies.map(({ what, count }) => `${count} ${oneLine(what)}`);
  const fields = unknownFields.map(({ name: field, streams }) => `${oneLine(field)} (${streams} streams)`);
  return [
    ...(kinds.length === 0 ? [] : [`  invalid replies${where}: ${kinds.join(", ")}`]),
    ...(fields.length === 0 ? [] : [`  output in unknown fields${where}: ${fields.join(", ")}`]),
  ];
}

function sessionLines({ started, completed, turns }: NonNullable<LoadPhase["sessions"]>): string[] {
  const ms = (of: { readonly p50: number; readonly p99: number } | null) =>
    of === null ? "" : ` p50 ${of.p50.toFixed(1)} p99 ${of.p99.toFixed(1)} ms`;
  return [
    `  sessions: ${started} started, ${completed} completed`,
    ...turns.map(
      ({ turn, requests, admitted, meanRequestBytes, responseMs, ttftMs }) =>
        `    turn ${turn}: ${admitted} of ${requests} admitted, ${Math.round(meanRequestBytes)} bytes, response${ms(responseMs) || " unknown"}${ttftMs === null ? "" : `, ttft${ms(ttftMs)}`}`,
    ),
  ];
}

function countsOf(phase: LoadPhase, verdict: Status, colors: Colors): (string | number)[] {
  const paint = verdict === "pass" ? colors.green : verdict === "fail" ? colors.red : colors.yellow;
  return [
    phase.name,
    paint(verdict),
    phase.offered,
    phase.sent,
    phase.admitted,
    phase.denied,
    phase.failed,
    phase.invalid,
    phase.dropped,
    phase.peakInFlight,
  ];
}

type Field = "responseMs" | "ttftMs";

/** The worst of several classes of admitted requests; the record has each class. */
function worst({ classes }: LoadPhase, field: Field, name: QuantileName): LoadPhase["classes"][number][Field] {
  const all = classes.flatMap((entry) => (entry.outcome === "admitted" ? (entry[field] ?? []) : []));
  return all.sort((a, b) => b[name] - a[name])[0] ?? null;
}

interface Figure {
  readonly title: string;
  readonly column: string;
  readonly field: Field;
  readonly name: QuantileName;
}

const FIGURES: readonly Figure[] = [
  { title: "p50", column: "p50 ms", field: "responseMs", name: "p50" },
  { title: "p99", column: "p99 ms", field: "responseMs", name: "p99" },
  { title: "ttft p99", column: "ttft p99", field: "ttftMs", name: "p99" },
];

function isShown(phase: LoadPhase, { field, name }: Figure): boolean {
  const quantiles = worst(phase, field, name);
  return quantiles !== null && isSupported(quantiles, name);
}

function figure(phase: LoadPhase, { field, name }: Figure): string {
  const quantiles = worst(phase, field, name);
  if (quantiles === null) return "";
  return isSupported(quantiles, name) ? formatNumber(quantiles[name], 1) : "–";
}

/** Why a column is missing: no phase had enough requests. What was not measured at all is not mentioned. */
function omittedLines({ phases }: LoadRun, shown: readonly Figure[]): string[] {
  const omitted = FIGURES.filter(
    (one) => !shown.includes(one) && phases.some((phase) => worst(phase, one.field, one.name) !== null),
  );
  return [...groupBy(omitted, ({ name }) => name)].map(
    ([name, some]) =>
      `  ${some.map(({ title }) => title).join(" and ")} omitted: too few requests (${formatNumber(MIN_VALUES[name])} of one kind in a phase are needed)`,
  );
}

/** How exact the figures of a phase are, and when it is steady. */
function exactnessOf(phase: LoadPhase): string[] {
  const intervals = FIGURES.flatMap(({ title, field, name }) => {
    const [low, high] = worst(phase, field, name)?.intervals?.[name] ?? [];
    if (low === undefined || high === undefined) return [];
    return [`${title} between ${formatNumber(low, 1)} and ${formatNumber(high, 1)} ms`];
  });
  const sure = intervals.length === 0 ? [] : [`  ${phase.name}: ${intervals.join(", ")} (95 % confidence)`];
  return [...sure, ...steadyLines(phase)];
}

function steadyLines(phase: LoadPhase): string[] {
  const { steady, startS, name: phaseName } = phase;
  if (steady === undefined || steady.kind === "too-short") return [];
  if (steady.fromS === null || steady.toS === null) return [`  ${phaseName}: no steady state (${steady.kind})`];
  if (steady.fromS === startS) return [];
  const part = FIGURES.flatMap(({ title, field, name }) => {
    const inPart = worst(phase, field, name)?.steady;
    return inPart && isSupported(inPart, name) ? [`${title} ${formatNumber(inPart[name], 1)} ms`] : [];
  });
  const inPart = part.length === 0 ? "" : ` (${part.join(", ")})`;
  return [`  ${phaseName}: steady state from ${steady.fromS.toFixed(0)} s to ${steady.toS.toFixed(0)} s${inPart}`];
}
