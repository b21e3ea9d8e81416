import Table from "cli-table3";
import type pc from "picocolors";
import { type CheckResult, countStatuses, type RunRecord, STATUSES, type Status } from "../src/record/index.ts";
import { oneLine } from "./clean-text.ts";
import { curlLine, keyVariables, type Reproducible } from "./curl.ts";
import { requirementWithLevel } from "./level.ts";
import { SIGNS } from "./status-style.ts";
import { pasteInto, unblockYaml } from "./unblock.ts";

type Colors = ReturnType<typeof pc.createColors>;

export interface TerminalOptions {
  readonly colors: Colors;
  /** Finds a recorded exchange, for the reproduction of failures. */
  readonly exchange: (id: string) => Reproducible | undefined;
  /** Where the run was written. */
  readonly folder: string;
}

/** Statuses that are shown one by one; the others are counted. */
const SHOWN: readonly Status[] = ["harness-error", "fail", "flaky", "inconclusive", "warn"];

/** A run for a person at a terminal: suites in a table, what went wrong with its evidence, the verdict last. */
export function renderTerminal(record: RunRecord, options: TerminalOptions): string {
  const { colors } = options;
  const paint = painter(colors);
  const shown = SHOWN.flatMap((status) => record.checks.filter((check) => check.status === status));
  const verdictPaint =
    record.verdict.word === "pass" ? colors.green : record.verdict.word === "fail" ? colors.red : colors.yellow;
  return [
    suiteTable(record, paint),
    ...shown.map((check) => renderCheck(check, record, options, paint)),
    renderBlocked(record, colors),
    ...renderNotes(record, colors),
    verdictPaint(colors.bold(oneLine(record.verdict.headline))),
    `${summary(record)} in ${(record.durationMs / 1_000).toFixed(1)} s, ${record.traffic.requests} requests`,
    `exit code ${record.verdict.exitCode}; everything is in ${options.folder}`,
  ]
    .filter((part) => part !== "")
    .join("\n")
    .concat("\n");
}

type Paint = (status: Status, text: string) => string;

function painter(colors: Colors): Paint {
  return (status, text) => {
    if (status === "pass") return colors.green(text);
    if (status === "fail" || status === "harness-error" || status === "flaky") return colors.red(text);
    if (status === "observed" || status === "not-applicable") return colors.dim(text);
    return colors.yellow(text);
  };
}

function suiteTable(record: RunRecord, paint: Paint): string {
  const statuses = STATUSES.filter((status) => (record.counts[status] ?? 0) > 0);
  const table = new Table({
    head: ["suite", ...statuses.map((status) => `${SIGNS[status]} ${status}`)],
    style: { head: [], border: [], compact: true },
    colAligns: ["left", ...statuses.map(() => "right" as const)],
  });
  for (const suite of [...new Set(record.checks.map((check) => check.suite))]) {
    const counts = countStatuses(record.checks.filter((check) => check.suite === suite).map(({ status }) => status));
    table.push([
      suite,
      ...statuses.map((status) => (counts[status] === 0 ? "" : paint(status, String(counts[status])))),
    ]);
  }
  return table.toString();
}

function renderCheck(check: CheckResult, record: RunRecord, options: TerminalOptions, paint: Paint): string {
  const { colors } = options;
  const lines = [
    `\n${paint(check.status, `${SIGNS[check.status]} ${check.status} ${oneLine(check.id)}`)}  ${oneLine(check.title)}`,
  ];
  const { waived } = check;
  if (waived !== undefined) {
    lines.push(
      colors.yellow(`    waived until ${waived.expires} by ${oneLine(waived.owner)}: ${oneLine(waived.reason)}`),
    );
  }
  const broken = check.findings.filter(({ outcome }) => outcome === "broken");
  if (broken.length === 0) lines.push(`    ${oneLine(check.message)}`);
  for (const finding of broken.slice(0, 5)) {
    const place = finding.pointer === undefined ? "" : ` at ${oneLine(finding.pointer)}`;
    if (finding.note !== undefined) lines.push(`    ${oneLine(finding.note)}`);
    lines.push(`    ${requirementWithLevel(record, finding)}${place}`);
    lines.push(`      expected ${colors.green(oneLine(finding.expected ?? ""))}`);
    lines.push(`      observed ${colors.red(oneLine(finding.observed))}`);
  }
  if (broken.length > 5) lines.push(`    and ${broken.length - 5} more findings`);
  const [id] = broken.flatMap(({ exchanges }) => exchanges);
  const exchange = id === undefined ? undefined : options.exchange(id);
  if (exchange !== undefined) {
    lines.push(`    exchange ${id}: ${colors.dim(curlLine(exchange, keyVariables(record.configuration.value)))}`);
  }
  return lines.join("\n");
}

/** What was not tested, once per missing state, and in one block the lines that would unblock it: it can be pasted as it is. */
function renderBlocked(record: RunRecord, colors: Colors): string {
  const blocked = record.checks.filter(({ status }) => status === "blocked");
  if (blocked.length === 0) return "";
  const byMessage = new Map<string, CheckResult[]>();
  for (const check of blocked) byMessage.set(check.message, [...(byMessage.get(check.message) ?? []), check]);
  const lines = [`\n${colors.yellow(`${SIGNS.blocked} ${blocked.length} checks were blocked`)}`];
  for (const [message, checks] of byMessage) {
    lines.push(
      `    ${oneLine(message)} (${checks
        .map(({ id }) => oneLine(id))
        .slice(0, 4)
        .join(", ")}${checks.length > 4 ? `, and ${checks.length - 4} more` : ""})`,
    );
  }
  const yaml = unblockYaml(blocked, record.configuration.value);
  if (yaml !== undefined) lines.push(`    ${oneLine(pasteInto(record))}`, "", yaml);
  return lines.join("\n");
}

/** What stands beside the checks: waivers that do not hold any more, and what the run left behind. */
function renderNotes({ verdict, leftovers = [] }: RunRecord, colors: Colors): string[] {
  const breaches = verdict.reasons.filter(({ text }) => text.startsWith("waiver "));
  return [
    ...breaches.map(({ text }) => colors.red(oneLine(`✗ ${text}`))),
    ...leftovers.map((text) => colors.dim(oneLine(`left behind: ${text}`))),
  ];
}

function summary(record: RunRecord): string {
  return STATUSES.filter((status) => (record.counts[status] ?? 0) > 0)
    .map((status) => `${record.counts[status]} ${status}`)
    .join(", ");
}
