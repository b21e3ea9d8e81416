import { groupBy } from "../../src/core/index.ts";
import {
  type CheckResult,
  countStatuses,
  explainedBy,
  type RunRecord,
  STATUSES,
  type Status,
} from "../../src/record/index.ts";
import { checksOfCause } from "../causes.ts";
import { oneLine } from "../clean-text.ts";
import { SIGNS } from "../status-style.ts";
import { groupUndecided, type UndecidedGroup } from "../text/index.ts";
import { pasteInto, unblockYaml } from "../unblock.ts";
import { renderCauses } from "./causes.ts";
import { changedChecks } from "./comparison.ts";
import { type Colors, type Paint, painter, type TerminalOptions } from "./options.ts";
import { figures, terminalTable } from "./table.ts";
import { verdictLines } from "./verdict-lines.ts";

/** Statuses that are listed if no cause explains them; the others are counted. */
const SHOWN: readonly Status[] = ["harness-error", "fail", "flaky", "inconclusive", "warn"];
/** Maximum number of check instances that are named for one reason. */
const MAX_NAMED = 4;

/** A run for the terminal: suites in a table, causes with their evidence, the verdict last. */
export function renderTerminal(record: RunRecord, options: TerminalOptions): string {
  const { colors } = options;
  const paint = painter(colors);
  const explained = explainedBy(record.causes);
  const shown = SHOWN.flatMap((status) =>
    record.checks.filter((check) => check.status === status && !explained.has(check.id)),
  );
  return [
    suiteTable(record, paint),
    renderCauses(record, options, paint),
    ...groupUndecided(shown).flatMap((group) => renderGroup(group, options, paint)),
    renderBlocked(record, colors),
    ...renderNotes(record, colors),
    ...baselineLines(record, colors),
    ...verdictLines(record, options),
  ]
    .filter((part) => part !== "")
    .join("\n")
    .concat("\n");
}

/** The checks that changed since the baseline of the policy. */
function baselineLines({ comparison, causes }: RunRecord, colors: Colors): string[] {
  if (comparison?.kind !== "baseline") return [];
  const changed = changedChecks(comparison, causes, colors);
  return changed.length === 0 ? [] : ["\nCompared with the baseline:", ...changed];
}

/** The suites that were run: in an interrupted run, those in which something was decided. */
function suiteTable(record: RunRecord, paint: Paint): string {
  const suites = [...groupBy(record.checks, ({ suite }) => suite)].filter(
    ([, checks]) => record.complete || checks.some(({ status }) => status !== "inconclusive"),
  );
  if (suites.length === 0) return "";
  const counts = countStatuses(suites.flatMap(([, checks]) => checks.map(({ status }) => status)));
  const statuses = STATUSES.filter((status) => counts[status] > 0);
  // The full words would make the table wider than a terminal of 80 columns.
  const heads = statuses.map((status) => `${SIGNS[status]} ${status === "not-applicable" ? "n/a" : status}`);
  const rows = suites.map(([suite, checks]) => {
    const ofSuite = countStatuses(checks.map(({ status }) => status));
    return [suite, ...statuses.map((status) => (ofSuite[status] === 0 ? "" : paint(status, String(ofSuite[status]))))];
  });
  return terminalTable(["suite", ...figures(...heads)], rows);
}

/** Results without a cause that have one reason: it is printed once. */
function renderGroup({ status, sentence, results }: UndecidedGroup, options: TerminalOptions, paint: Paint): string[] {
  if (results.length === 1 || results.some(({ waived }) => waived !== undefined))
    return results.map((check) => renderCheck(check, options, paint));
  const title = paint(status, `${SIGNS[status]} ${results.length} check instances: ${status}`);
  return [`\n${title}\n    ${oneLine(sentence)}\n    ${idsOf(results)}`];
}

const idsOf = (results: readonly CheckResult[]): string =>
  checksOfCause({ checks: results.map(({ id }) => id) }, MAX_NAMED);

/** A result without a cause: undecided or waived. */
function renderCheck(check: CheckResult, { colors }: TerminalOptions, paint: Paint): string {
  const lines = [
    `\n${paint(check.status, `${SIGNS[check.status]} ${check.status} ${oneLine(check.id)}`)}  ${oneLine(check.title)}`,
  ];
  const { waived } = check;
  if (waived !== undefined) {
    lines.push(
      colors.yellow(`    waived until ${waived.expires} by ${oneLine(waived.owner)}: ${oneLine(waived.reason)}`),
    );
  }
  lines.push(`    ${oneLine(check.message)}`);
  return lines.join("\n");
}

/** What was not tested, grouped by reason, and the lines that would unblock it in one block to paste. */
function renderBlocked(record: RunRecord, colors: Colors): string {
  const blocked = record.checks.filter(({ status }) => status === "blocked");
  if (blocked.length === 0) return "";
  const lines = [
    `\n${colors.yellow(`${SIGNS.blocked} ${blocked.length} ${blocked.length === 1 ? "check instance was" : "check instances were"} blocked`)}`,
  ];
  for (const { sentence, results } of groupUndecided(blocked))
    lines.push(`    ${oneLine(sentence)} (${idsOf(results)})`);
  const yaml = unblockYaml(blocked, record.configuration.value);
  if (yaml !== undefined) lines.push(`    ${oneLine(pasteInto(record))}`, "", yaml);
  return lines.join("\n");
}

/** Notes besides the checks: waivers that no longer apply, and leftovers of the run. */
function renderNotes({ verdict, leftovers = [] }: RunRecord, colors: Colors): string[] {
  const breaches = verdict.reasons.filter(({ kind }) => kind === "waiver");
  return [
    ...breaches.map(({ text }) => colors.red(oneLine(`✗ ${text}`))),
    ...leftovers.map((text) => colors.dim(oneLine(`note: ${text}`))),
  ];
}
