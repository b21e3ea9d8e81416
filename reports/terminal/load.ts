import { formatCount, formatNumber, groupBy } from "../../src/core/index.ts";
import {
  type CheckResult,
  checkOfEvents,
  checksOfRun,
  checksOfThresholds,
  type Finding,
  type Leak,
  type LoadPhase,
  type LoadRun,
  type RunRecord,
  statusOfPhase,
} from "../../src/record/index.ts";
import { oneLine } from "../clean-text.ts";
import { executionText, figureTexts } from "../figures/event-figures.ts";
import { latencyLines } from "../figures/latency-table.ts";
import { loadResults } from "../figures/load-result.ts";
import { startedLoads } from "../figures/started-loads.ts";
import { steadyText, throughputOf } from "../figures/throughput.ts";
import { toolCallsText } from "../figures/tool-call-figures.ts";
import { amountText, droppedSeries, failedScrapes, slopeText } from "../figures/watched-figures.ts";
import { describeFacts, describeFinding, describeUnsteady } from "../text/index.ts";
import type { Colors, TerminalOptions } from "./options.ts";
import { figures, terminalTable } from "./table.ts";
import { verdictLines } from "./verdict-lines.ts";

/** The load part of a run for the terminal: phases in a table, violations below it, the verdict last. */
export function renderLoad(record: RunRecord, options: Omit<TerminalOptions, "evidence">): string {
  const runs = renderLoadRuns(record, options.colors);
  const [headline = "", ...rest] = verdictLines(record, options);
  return [...(runs === "" ? [] : [runs]), headline, ...loadResults(record).map((result) => `  ${result}`), ...rest]
    .join("\n")
    .concat("\n");
}

/** @returns an empty text if no load was sent. */
export function renderLoadRuns(record: RunRecord, colors: Colors): string {
  const runs = startedLoads(record);
  const parts = runs.map((run) =>
    renderRun(run, { checks: checksOfRun(record.checks, run), colors, isShared: isSharedProcess(runs) }),
  );
  return [parts.join("\n\n"), ...sharedGenerator(runs)].join("\n");
}

const resourcesText = (cpuS: number, rssBytes: number): string =>
  `${formatNumber(cpuS, 1)} s of CPU time, ${formatNumber(rssBytes / 1e6)} MB`;

/** Several loads of the native engine are sent by one process, whose resources are not those of each of them. */
const isSharedProcess = (runs: readonly LoadRun[]): boolean =>
  runs.length > 1 && runs.every(({ engine, instances }) => engine === "native" && instances === undefined);

function sharedGenerator(runs: readonly LoadRun[]): string[] {
  if (!isSharedProcess(runs)) return [];
  const most = (read: (generator: LoadRun["generator"]) => number) =>
    Math.max(...runs.map(({ generator }) => read(generator)));
  const resources = resourcesText(
    most(({ cpuS }) => cpuS),
    most(({ peakRssBytes }) => peakRssBytes),
  );
  return ["", `load generator (one process for all runs): ${resources}`];
}

interface RunContext {
  readonly checks: readonly CheckResult[];
  readonly colors: Colors;
  /** Whether the process of the load generator sends other loads, too. */
  readonly isShared: boolean;
}

function renderRun(run: LoadRun, { checks, colors, isShared }: RunContext): string {
  const limits =
    run.limits === null
      ? ""
      : `, ${formatNumber(run.limits.rpm)}/min and ${formatNumber(run.limits.inFlight)} in flight`;
  const { generator, retryAfter } = run;
  const lines = [
    colors.bold(`${oneLine(run.name)} (engine ${run.engine}${limits})`),
    ...countLines(run, checks, colors),
  ];
  lines.push(...latencyLines(run));
  if (run.phases.length > 1) for (const phase of run.phases) lines.push(...steadyLines(phase));
  for (const phase of run.phases) lines.push(...invalidLines(phase, run.phases.length > 1));
  const thresholds = checksOfThresholds(checks, run);
  if (thresholds.length > 0 && run.phases.length > 1) lines.push("  thresholds over all phases:");
  lines.push(
    ...thresholdLines(
      thresholds.flatMap(({ findings }) => findings),
      colors,
    ),
  );
  const events = checkOfEvents(checks, run);
  lines.push(...eventLines(run, events?.findings ?? [], colors));
  for (const check of checks)
    if (!thresholds.includes(check) && check !== events) lines.push(...problemsOf(run, check, colors));
  if (retryAfter !== null && retryAfter.tested > 0) lines.push(`  Retry-After: ${waitsText(retryAfter)}`);
  for (const { name, toolCalls } of run.phases)
    if (toolCalls !== undefined)
      lines.push(`  tool calls${run.phases.length > 1 ? ` in ${oneLine(name)}` : ""}: ${toolCallsText(toolCalls)}`);
  for (const { sessions } of run.phases) if (sessions !== undefined) lines.push(...sessionLines(sessions));
  const { scheduleLagMs: lag, loopDelayMs: loop } = generator;
  lines.push(
    `  load generator: schedule lag p50 ${formatNumber(lag.p50, 1)} ms, p99 ${formatNumber(lag.p99, 1)} ms${loop === null ? "" : `; event loop delay p99 ${formatNumber(loop.p99, 1)} ms`}${isShared ? "" : `; ${resourcesText(generator.cpuS, generator.peakRssBytes)}`}`,
  );
  lines.push(...watchedLines(run, colors));
  for (const problem of generator.problems) lines.push(`  ${colors.yellow("?")} ${oneLine(problem)}`);
  return lines.join("\n");
}

/** Outcomes that a sound gateway does not have, and arrivals that could not be sent. */
const RARE = ["failed", "invalid", "dropped"] as const;

/** How many requests were sent, and how they ended: in sentences for one phase, otherwise in a table. */
function countLines(run: LoadRun, checks: readonly CheckResult[], colors: Colors): string[] {
  const [only] = run.phases;
  if (only !== undefined && run.phases.length === 1)
    return [
      requestsLine(only),
      ...(only.admitted === 0 ? [] : [throughputLine(only), outputLine(only)]),
      ...(only.goodput === undefined ? [] : [`  goodput: ${goodputText(only.goodput)}`]),
    ];
  // Columns of zeros would make the table too wide for a terminal of 80 columns.
  const [rare, absent] = [true, false].map((isShown) =>
    RARE.filter((name) => run.phases.some((phase) => phase[name] > 0) === isShown),
  );
  const counts = ["sent", "admitted", "denied", ...(rare ?? [])] as const;
  const rows = run.phases.map((phase) => {
    const verdict = statusOfPhase(checks, run, phase) ?? "not-applicable";
    const paint = verdict === "pass" ? colors.green : verdict === "fail" ? colors.red : colors.yellow;
    return [phase.name, paint(verdict), ...counts.map((name) => formatNumber(phase[name]))];
  });
  return [
    terminalTable(["phase", "verdict", ...figures(...counts)], rows),
    ...(absent === undefined || absent.length === 0 ? [] : [`  0 ${absent.join(", 0 ")}`]),
  ];
}

/** `requests: 280 sent (280 admitted, 0 denied, 0 failed, 0 invalid), peak 49 in flight`. */
function requestsLine(phase: LoadPhase): string {
  const { sent, admitted, denied, failed, invalid, dropped, peakInFlight } = phase;
  const ends = [
    `${formatNumber(admitted)} admitted`,
    `${formatNumber(denied)} denied`,
    `${formatNumber(failed)} failed`,
    `${formatNumber(invalid)} invalid`,
    ...(dropped > 0 ? [`${formatNumber(dropped)} dropped`] : []),
  ];
  return `  requests: ${formatNumber(sent)} sent (${ends.join(", ")}), peak ${formatNumber(peakInFlight)} in flight${denied > 0 ? ", including denied requests" : ""}`;
}

/** `throughput: 39.8 admitted/s in the steady state from 4 s to 14 s; 31.7/s in the 19.0 s until the last response`. */
function throughputLine(phase: LoadPhase): string {
  const { rates, durationS } = phase;
  const { admittedPerS, steady } = throughputOf(phase);
  const perS = (rate: number) => `${formatNumber(rate, 1)}`;
  const all = `in the ${formatNumber(durationS, 1)} s until the last response`;
  if (steady === undefined) return `  throughput: ${perS(rates.admitted)} admitted/s ${all}${unsteadyText(phase)}`;
  return `  throughput: ${perS(admittedPerS)} admitted/s in the ${steadyText(steady)}; ${perS(rates.admitted)}/s ${all}`;
}

function unsteadyText({ steady }: LoadPhase): string {
  if (steady === undefined || steady.kind === "steady" || steady.kind === "too-short") return "";
  return `; no steady state (${steady.kind}): ${describeUnsteady(steady.kind)}`;
}

function outputLine({ classes, durationS }: LoadPhase): string {
  const admitted = classes.filter(({ outcome }) => outcome === "admitted");
  const tokens = admitted.reduce((sum, { outputTokens }) => sum + outputTokens, 0);
  const countsStreamEvents = admitted.some(({ stream, itlMs }) => stream && itlMs === null);
  return `  output: ${formatNumber(tokens)} tokens (${formatNumber(durationS > 0 ? tokens / durationS : 0, 1)}/s)${countsStreamEvents ? ", counting events for streams that report no token counts" : ""}`;
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

/** The thresholds of a workload, each with its value: `✓ ttft_ms p95 < 800: 412 ms`. */
function thresholdLines(findings: readonly Finding[], colors: Colors): string[] {
  const marks = { met: colors.green("✓"), broken: colors.red("✗"), undecided: colors.yellow("?"), observed: "·" };
  return findings.map(
    (finding) => `  ${marks[finding.outcome]} ${oneLine(`${finding.name}: ${describeFacts(finding)}`)}`,
  );
}

/** What was done to the gateway, what its clients noticed, and each expectation. */
function eventLines({ events = [] }: LoadRun, findings: readonly Finding[], colors: Colors): string[] {
  const lines = events.flatMap((event) => [
    `  event ${oneLine(event.name)} at ${event.atS.toFixed(1)} s: ${oneLine(executionText(event))}`,
    ...figureTexts(event).map((text) => `    ${oneLine(text)}`),
  ]);
  return [...lines, ...thresholdLines(findings, colors)];
}

/** Lines for the violated and undecided findings of a check; equal lines are merged. */
function problemsOf(run: LoadRun, { id, findings }: CheckResult, colors: Colors): string[] {
  const place = id.slice(`load.${run.name}.`.length);
  const marks = { fail: colors.red("✗"), warn: colors.yellow("▲"), none: "" };
  // The sentence of a finding that is named after a requirement does not name it.
  const sentence = (finding: Finding) =>
    oneLine(`${finding.requirements.includes(finding.name) ? `${finding.name}: ` : ""}${describeFinding(finding)}`);
  // The lines about the load generator say what kept it from being on time.
  const open = findings.filter(({ outcome, reason }) => outcome === "undecided" && reason?.kind !== "machine-busy");
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

/** `waited as long as Retry-After said after 60 of 641 denials; every wait was sufficient`; small samples get no percentage. */
function waitsText({ tested, sufficient, sufficientShare, groups }: NonNullable<LoadRun["retryAfter"]>): string {
  const denials = groups.reduce((sum, group) => sum + group.denials, 0);
  const share = sufficientShare === null ? "" : ` (${(sufficientShare * 100).toFixed(1)} %)`;
  const result =
    sufficient === tested ? "every wait was sufficient" : `${formatNumber(sufficient)} waits were sufficient${share}`;
  return `waited as long as Retry-After said after ${formatNumber(tested)} of ${formatCount(denials, "denial")}; ${result}`;
}

/** `18.2 requests/s and 412.0 tokens/s, 91.0 % of the arrivals; ttft_ms < 300: 95, …`. */
function goodputText({ requestsPerS, tokensPerS, share, objectives }: NonNullable<LoadPhase["goodput"]>): string {
  const tokens = tokensPerS === null ? "tokens unknown" : `${formatNumber(tokensPerS, 1)} tokens/s`;
  const ofAll = share === null ? "no arrivals" : `${(share * 100).toFixed(1)} % of the arrivals`;
  const each = objectives.map(({ text, met }) => `${formatNumber(met)} met ${oneLine(text)}`).join(", ");
  return `${formatNumber(requestsPerS, 1)} requests/s and ${tokens}, ${ofAll} (${each})`;
}

/** Invalid replies by defect, and output in fields that no known client reads. */
function invalidLines({ name, invalidReplies, unknownFields }: LoadPhase, hasSeveral: boolean): string[] {
  const where = hasSeveral ? ` in ${oneLine(name)}` : "";
  const kinds = invalidReplies.map(({ what, count }) => `${formatNumber(count)} ${oneLine(what)}`);
  const fields = unknownFields.map(
    ({ name: field, streams }) => `${oneLine(field)} (${formatNumber(streams)} streams)`,
  );
  return [
    ...(kinds.length === 0 ? [] : [`  invalid replies${where}: ${kinds.join(", ")}`]),
    ...(fields.length === 0 ? [] : [`  output in unknown fields${where}: ${fields.join(", ")}`]),
  ];
}

function sessionLines({ started, completed, turns }: NonNullable<LoadPhase["sessions"]>): string[] {
  const ms = (of: { readonly p50: number; readonly p99: number } | null) =>
    of === null ? "" : ` p50 ${formatNumber(of.p50, 1)} p99 ${formatNumber(of.p99, 1)} ms`;
  return [
    `  sessions: ${formatNumber(started)} started, ${formatNumber(completed)} completed`,
    ...turns.map(
      ({ turn, requests, admitted, meanRequestBytes, responseMs, ttftMs }) =>
        `    turn ${turn}: ${formatNumber(admitted)} of ${formatNumber(requests)} admitted, ${formatNumber(meanRequestBytes)} bytes, response${ms(responseMs) || " unknown"}${ttftMs === null ? "" : `, ttft${ms(ttftMs)}`}`,
    ),
  ];
}

function steadyLines(phase: LoadPhase): string[] {
  const { steady } = throughputOf(phase);
  const unsteady = unsteadyText(phase).replace(/^; /, "");
  if (unsteady !== "") return [`  ${phase.name}: ${unsteady}`];
  if (steady === undefined || steady.fromS === phase.startS) return [];
  return [`  ${phase.name}: ${steadyText(steady)}`];
}
