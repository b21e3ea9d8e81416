import { groupBy, workflowCommand } from "../../src/core/index.ts";
import { type Cause, explainedBy, type RunRecord } from "../../src/record/index.ts";
import { checksOfCause, weightOf } from "../causes.ts";
import { oneLine } from "../clean-text.ts";
import { type Outcome, outcomesOf } from "../outcomes.ts";

/** The host shows at most ten annotations of each level per step. */
const MAX_PER_LEVEL = 10;
const MAX_TEXT_CHARACTERS = 400;

/**
 * GitHub Actions workflow commands: one annotation per cause, then one per check that no cause explains, with its
 * instances rolled up. The tenth says how many more there are.
 *
 * A line of output can itself be such a command, so external text is printed on one line, after our own command.
 */
export function renderAnnotations(record: RunRecord): string {
  const outcomes = outcomesOf(record).filter(
    ({ waived, notRequired }) => waived === undefined && notRequired === undefined,
  );
  const explained = explainedBy(record.causes);
  const unexplained = outcomes.filter(({ id }) => !explained.has(id));
  const notDeciding = new Set(record.notDeciding);
  // What no chosen profile requires is not an error of this change.
  const required = record.causes.filter(({ checks }) => !checks.every((id) => notDeciding.has(id)));
  const causes = (weight: Cause["weight"]) =>
    required.filter((cause) => cause.weight === weight).map((cause) => ofCause(record, cause));
  const failed = rolled(unexplained.filter(({ status }) => ["harness-error", "fail", "flaky"].includes(status)));
  const open = rolled(unexplained.filter(({ status }) => ["blocked", "inconclusive", "warn"].includes(status)));
  const kind = LEVEL[record.verdict.result];
  return [
    command(kind, "Gauntlet", record.verdict.headline),
    ...capped("error", [...causes("fail"), ...failed], kind === "error" ? 1 : 0),
    ...capped("warning", [...causes("warn"), ...open], kind === "warning" ? 1 : 0),
  ]
    .map((line) => `${line}\n`)
    .join("");
}

const LEVEL = { pass: "notice", fail: "error", error: "error", inconclusive: "warning" } as const;

interface Rolled {
  readonly title: string;
  readonly message: string;
  /** `file:line:column`, or only the file. */
  readonly place?: string | undefined;
}

function ofCause(record: RunRecord, cause: Cause): Rolled {
  return {
    title: `${cause.weight} ${cause.requirement} in ${weightOf(record, cause)}`,
    message: `${cause.title} (${checksOfCause(cause, 2)}). ${cause.advice}`,
  };
}

function rolled(outcomes: readonly Outcome[]): Rolled[] {
  // All results of a load have the id of one check, but each has its own title.
  const nameOf = ({ status, id }: Outcome) => `${status} ${id.replace(/\[.*$/s, "")}`;
  const groups = groupBy(outcomes, (outcome) => JSON.stringify([nameOf(outcome), outcome.title]));
  return [...groups.values()].map((group) => {
    const name = nameOf(group[0]);
    const times = group.length > 1 ? ` (${group.length} times)` : "";
    return { title: `${name}${times}`, message: `${group[0].title}: ${group[0].message}`, place: group[0].place };
  });
}

function capped(kind: "error" | "warning", entries: readonly Rolled[], taken: number): string[] {
  const room = MAX_PER_LEVEL - taken;
  const shown = entries.length > room ? entries.slice(0, room - 1) : entries;
  const lines = shown.map(({ title, message, place }) => command(kind, title, message, place));
  const rest = entries.length - shown.length;
  return rest === 0 ? lines : [...lines, command(kind, "Gauntlet", `and ${rest} more; the report has all`)];
}

function command(kind: "error" | "warning" | "notice", title: string, message: string, place = ""): string {
  const [, file, line] = /^(.+?)(?::(\d+):\d+)?$/.exec(place) ?? [];
  const at = file === undefined ? undefined : { file, line: line === undefined ? undefined : Number(line) };
  return workflowCommand(kind, oneLine(title, MAX_TEXT_CHARACTERS), oneLine(message, MAX_TEXT_CHARACTERS), at);
}
