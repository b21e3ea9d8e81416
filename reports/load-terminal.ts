import { groupBy } from "../src/core/index.ts";
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
import { isSupported, type QuantileName } from "./supported.ts";
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
  const limits = run.limits === null ? "" : `, ${run.limits.rpm}/min and ${run.limits.inFlight} in flight`;
  const counts = figures("offered", "sent", "admitted", "denied", "failed", "invalid", "dropped");
  const rows = run.phases.map((phase) =>
    rowOf(phase, checkOfPhase(checks, run, phase)?.status ?? "not-applicable", colors),
  );
  const table = terminalTable(
    ["phase", "verdict", ...counts, ...figures("in flight", "p50 ms", "p99 ms", "ttft p99")],
    rows,
  );
  const { generator, retryAfter } = run;
  const lines = [colors.bold(`${oneLine(run.name)} (${run.engine}${limits})`), table];
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
    `  generator: schedule lag p50 ${lag.p50.toFixed(1)} p99 ${lag.p99.toFixed(1)} ms${loop === null ? "" : `, loop delay p99 ${loop.p99.toFixed(1)} ms`}, ${generator.cpuS.toFixed(1)} CPU s, ${Math.round(generator.peakRssBytes / 1e6)} MB`,
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

/** `2 of 2 tested waits were sufficient, 712 denials`: small samples get no percentage. */
function waitsText({ tested, sufficient, sufficientShare, groups }: NonNullable<LoadRun["retryAfter"]>): string {
  const denials = groups.reduce((sum, group) => sum + group.denials, 0);
  const share =
    sufficientShare === null ? `${sufficient} of ${tested}` : `${(sufficientShare * 100).toFixed(1)} % of ${tested}`;
  return `${share} tested waits were sufficient, ${denials} denials`;
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

function rowOf(phase: LoadPhase, verdict: Status, colors: Colors): (string | number)[] {
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
    ...(["p50", "p99"] as const).map((name) => figure(worst(phase, "responseMs", name), name)),
    figure(worst(phase, "ttftMs", "p99"), "p99"),
  ];
}

type Field = "responseMs" | "ttftMs";

/** The worst of several classes of admitted requests; the record has each class. */
function worst({ classes }: LoadPhase, field: Field, name: QuantileName): LoadPhase["classes"][number][Field] {
  const all = classes.flatMap((entry) => (entry.outcome === "admitted" ? (entry[field] ?? []) : []));
  return all.sort((a, b) => b[name] - a[name])[0] ?? null;
}

function figure(quantiles: LoadPhase["classes"][number][Field], name: QuantileName): string {
  if (quantiles === null) return "";
  return isSupported(quantiles, name) ? quantiles[name].toFixed(1) : "–";
}

const FIGURES = [
  ["p50", "responseMs", "p50"],
  ["p99", "responseMs", "p99"],
  ["ttft p99", "ttftMs", "p99"],
] as const;

/** How exact the figures of a phase are, and when it is steady. */
function exactnessOf(phase: LoadPhase): string[] {
  const intervals = FIGURES.flatMap(([title, field, name]) => {
    const [low, high] = worst(phase, field, name)?.intervals?.[name] ?? [];
    return low === undefined || high === undefined ? [] : [`${title} ${low.toFixed(1)} to ${high.toFixed(1)}`];
  });
  const sure = intervals.length === 0 ? [] : [`  ${phase.name}: 95 % intervals, ms: ${intervals.join(", ")}`];
  return [...sure, ...steadyLines(phase)];
}

function steadyLines(phase: LoadPhase): string[] {
  const { steady, startS, name } = phase;
  if (steady === undefined || steady.kind === "too-short") return [];
  if (steady.fromS === null || steady.toS === null) return [`  ${name}: no steady state (${steady.kind})`];
  if (steady.fromS === startS) return [];
  const part = FIGURES.flatMap(([title, field, quantile]) => {
    const inPart = worst(phase, field, quantile)?.steady;
    return inPart && isSupported(inPart, quantile) ? [`${title} ${inPart[quantile].toFixed(1)}`] : [];
  });
  const figures = part.length === 0 ? "" : `: ${part.join(", ")} ms there`;
  return [`  ${name}: steady from ${steady.fromS.toFixed(0)} to ${steady.toS.toFixed(0)} s of the run${figures}`];
}
