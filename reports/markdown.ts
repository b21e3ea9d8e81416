import { formatNumber, withSign } from "../src/core/index.ts";
import {
  type Cause,
  type Comparison,
  explainedBy,
  type LoadRun,
  type ProfileResult,
  type RunRecord,
  STATUSES,
} from "../src/record/index.ts";
import { causesInWords, requirementSentence, weightOf } from "./causes.ts";
import { generatorNote, latencyTable, outcomesTable, thresholdsPart } from "./ci/load-tables.ts";
import { rerunOf } from "./evidence/reproduce.ts";
import { latenciesOf, latencyLegend } from "./figures/latency-table.ts";
import { startedLoads } from "./figures/started-loads.ts";
import { code, command, inline, preformatted } from "./markdown-text.ts";
import { type Outcome, outcomesOf } from "./outcomes.ts";
import { SIGNS } from "./status-style.ts";
import { claimedFirst, describeComparison, describeFigure, describeProfile, groupDrift } from "./text/index.ts";
import { pasteInto, unblockYaml } from "./unblock.ts";

/** Maximum size of a summary. GitHub discards the whole upload of step summaries above 1,024 KiB; the rest is for other steps. */
export const MAX_SUMMARY_BYTES = 900 * 1_024;
const MAX_CAUSES = 10;
const MAX_OTHERS = 20;
const MAX_FAILURES = 10;
const MAX_LINES = 12;
const MAX_PHASES = 40;

const SHOWN = ["harness-error", "fail", "flaky", "inconclusive"] as const;

/** The run for a step summary or a comment: verdict, counts, causes, notes. */
export function renderMarkdown(record: RunRecord): string {
  const loads = startedLoads(record);
  const all = outcomesOf(record);
  const waived = all.filter((outcome) => outcome.waived !== undefined);
  const outcomes = all.filter((outcome) => outcome.waived === undefined);
  const explained = explainedBy(record.causes);
  const unexplained = outcomes.filter(({ id }) => !explained.has(id));
  const problems = SHOWN.flatMap((status) => unexplained.filter((outcome) => outcome.status === status));
  // Two open parts, of a cause and of a problem, are still short; among several causes, an open problem would look like the main one.
  const isOnlyProblem = problems.length === 1 && record.causes.length <= 1;
  const blocked = outcomes.filter(({ status }) => status === "blocked");
  const warned = unexplained.filter(({ status }) => status === "warn");
  const parts = [
    ...(record.profiles === undefined ? [] : [profilesLine(record.profiles)]),
    `## ${VERDICTS[record.verdict.result]} ${inline(record.verdict.headline)}`,
    `${countsLine(record)}${formatNumber(record.durationMs / 1_000, 1)} s, ${formatNumber(record.traffic.requests)} requests, run ${code(record.runId)}, exit code ${record.verdict.exitCode}.`,
    ...record.verdict.qualifiers.map((qualifier) => `> ${inline(qualifier)}`),
    ...(record.complete ? [] : ["> The run was interrupted; these are the results so far."]),
    ...causesPart(record),
    ...(loads.length === 0 ? [] : [loadPart(record, loads)]),
    ...(record.comparison === undefined ? [] : [comparisonPart(record.comparison)]),
    ...problems.slice(0, MAX_FAILURES).map((outcome) => problem(record, outcome, { isOpen: isOnlyProblem })),
    ...(problems.length > MAX_FAILURES ? [`and ${problems.length - MAX_FAILURES} more, in the full report.`] : []),
    ...(blocked.length === 0 ? [] : [blockedPart(record, blocked)]),
    ...(waived.length === 0 ? [] : [waivedPart(waived)]),
    ...(warned.length === 0 ? [] : [warnedPart(warned)]),
  ];
  return cut(`${parts.join("\n\n")}\n`);
}

/** Never truncated, however many profiles there are: the summary starts with them. */
export function profilesLine(profiles: readonly ProfileResult[]): string {
  return `**${claimedFirst(profiles)
    .map((profile) => inline(`${profile.name}: ${describeProfile(profile)}`))
    .join(" · ")}**`;
}

const VERDICTS: Readonly<Record<RunRecord["verdict"]["result"], string>> = {
  pass: "✓",
  fail: "✗",
  inconclusive: "?",
  error: "!",
};

/** Empty for load runs without checks. */
function countsLine(record: RunRecord): string {
  const counted = STATUSES.filter((status) => (record.counts[status] ?? 0) > 0);
  if (counted.length === 0) return record.load === undefined ? "Nothing was judged. " : "";
  return `${counted.map((status) => `${SIGNS[status]} ${formatNumber(record.counts[status] ?? 0)} ${status}`).join(", ")}. `;
}

/** The causes of failures and warnings: the first ones with their checks, the others in one line. */
function causesPart(record: RunRecord): string[] {
  const summary = causesInWords(record);
  if (summary === undefined) return [];
  const { causes } = record;
  const isOpen = causes.length === 1;
  const shown = causes.slice(0, MAX_CAUSES).map((cause) => causePart(record, cause, { isOpen }));
  return [
    `**${summary}**`,
    ...shown,
    ...(causes.length > MAX_CAUSES ? [otherCauses(record, causes.slice(MAX_CAUSES))] : []),
  ];
}

function causePart(record: RunRecord, cause: Cause, { isOpen }: Folding): string {
  const summary = `${SIGNS[cause.weight]} ${weightOf(record, cause)}: ${inline(cause.title)}`;
  const lines = [
    `- ${inline(requirementSentence(record, cause))}`,
    `- ${inline(cause.advice)}`,
    ...cause.checks.slice(0, MAX_LINES).map((id) => `- ${code(id)}`),
    ...(cause.checks.length > MAX_LINES ? [`- and ${cause.checks.length - MAX_LINES} more`] : []),
    "",
    `Reproduce: ${command(rerunOf(record, cause.checks[0] ?? ""))}`,
  ];
  return folded(summary, lines, { isOpen });
}

interface Folding {
  /** Whether the reader sees the lines without a click: the only cause of a failure is what they look for. */
  readonly isOpen: boolean;
}

const folded = (summary: string, lines: readonly string[], { isOpen }: Folding): string =>
  [`<details${isOpen ? " open" : ""}><summary>${summary}</summary>`, "", ...lines, "", "</details>"].join("\n");

function otherCauses(record: RunRecord, causes: readonly Cause[]): string {
  const lines = causes.slice(0, MAX_OTHERS).map((cause) => `- ${weightOf(record, cause)}: ${inline(cause.title)}`);
  return [`${causes.length} further causes:`, "", ...lines].join("\n");
}

function problem(record: RunRecord, outcome: Outcome, { isOpen }: Folding): string {
  const details = outcome.detail.length === 0 ? [outcome.message] : outcome.detail;
  const summary = `${SIGNS[outcome.status]} ${outcome.status} ${code(outcome.id)} ${inline(outcome.title)}`;
  const lines = [
    ...details.slice(0, MAX_LINES).map((line) => `- ${inline(line)}`),
    ...(details.length > MAX_LINES ? [`- and ${details.length - MAX_LINES} more`] : []),
    "",
    `Reproduce: ${command(rerunOf(record, outcome.id))}`,
  ];
  return folded(summary, lines, { isOpen });
}

/** What each phase sent and its outcomes, latencies and thresholds. */
function loadPart(record: RunRecord, runs: readonly LoadRun[]): string {
  const note = generatorNote(runs);
  return [
    ...(note === undefined ? [] : [note, ""]),
    ...outcomesTable(record, runs).slice(0, MAX_PHASES + 2),
    ...runs.slice(0, 4).flatMap(latencyPart),
    ...runs.flatMap((run) => thresholdsPart(record, run)),
  ].join("\n");
}

/** The latencies of a run by kind of request. */
function latencyPart(run: LoadRun): string[] {
  const latencies = latenciesOf(run);
  const table = latencyTable(run, latencies);
  const legend = latencyLegend(latencies).map(inline);
  return [...(table.length === 0 ? [] : ["", ...table]), ...(legend.length === 0 ? [] : ["", legend.join("; ")])];
}

/** What changed, and the figures that moved beyond their margin. */
function comparisonPart(comparison: Comparison): string {
  const { a, b, metrics, checks, drift } = comparison;
  const moved = metrics.filter((metric) => metric.verdict === "regressed" || metric.verdict === "improved");
  const percent = (change: number | null) =>
    change === null ? "?" : `${withSign(change, formatNumber(Math.abs(change * 100), 1))} %`;
  return [
    inline(describeComparison(comparison)),
    "",
    `- ${inline(a.name)}: ${inline(a.label)}`,
    `- ${inline(b.name)}: ${inline(b.label)}`,
    ...(comparison.nextStep === undefined ? [] : ["", inline(comparison.nextStep)]),
    "",
    ...moved
      .slice(0, 10)
      .map(
        (metric) =>
          `- ${metric.verdict}: ${inline(describeFigure(metric.name))} ${percent(metric.change)} (${percent(metric.low)} to ${percent(metric.high)})`,
      ),
    ...checks.newlyFailing.slice(0, 10).map(({ id }) => `- newly failing: ${code(id)}`),
    ...checks.vanished.slice(0, 10).map(({ id }) => `- vanished: ${code(id)}`),
    ...checks.worse.slice(0, 10).map(({ id }) => `- newly warning: ${code(id)}`),
    ...checks.lost.slice(0, 10).map(({ id, now }) => `- no longer decided: ${code(id)} (${now})`),
    ...groupDrift(drift)
      .slice(0, 10)
      .map(({ what, before, now, where: [first, ...more] }) => {
        const places = `${inline(first)}${more.length === 0 ? "" : ` and ${more.length} more`}`;
        return `- ${code(what)}: ${inline(before)} → ${inline(now)} (${places})`;
      }),
  ].join("\n");
}

function blockedPart(record: RunRecord, blocked: readonly Outcome[]): string {
  const byMessage = new Map<string, number>();
  for (const { message } of blocked) byMessage.set(message, (byMessage.get(message) ?? 0) + 1);
  const requirements = [...byMessage]
    .slice(0, 20)
    .map(([message, count]) => `- ${formatNumber(count)} × ${inline(message)}`);
  const checks = record.checks.filter(({ status }) => status === "blocked");
  const yaml = unblockYaml(checks, record.configuration.value);
  return [
    `**${formatNumber(blocked.length)} not run**, because something is missing:`,
    "",
    ...requirements,
    ...(yaml === undefined ? [] : ["", inline(pasteInto(record)), "", preformatted(yaml)]),
  ].join("\n");
}

function waivedPart(waived: readonly Outcome[]): string {
  const requirements = waived.slice(0, 20).map(({ id, waived: why = "" }) => `- ${code(id)} ${inline(why)}`);
  return [`**${formatNumber(waived.length)} waived**:`, "", ...requirements].join("\n");
}

function warnedPart(warned: readonly Outcome[]): string {
  const names = warned.slice(0, 20).map(({ id }) => code(id));
  return `**${formatNumber(warned.length)} warned**: ${names.join(", ")}${warned.length > 20 ? ` and ${warned.length - 20} more` : ""}.`;
}

function cut(text: string): string {
  if (Buffer.byteLength(text) <= MAX_SUMMARY_BYTES) return text;
  const note = "\n\n</details>\n\nTruncated here because of its size; the full report has the rest.\n";
  const bytes = Buffer.from(text).subarray(0, MAX_SUMMARY_BYTES - Buffer.byteLength(note));
  // Drop a character that was cut in the middle.
  return `${new TextDecoder("utf-8").decode(bytes).replace(/\uFFFD+$/, "")}${note}`;
}
