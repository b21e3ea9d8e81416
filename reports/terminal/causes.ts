import type { Cause, RunRecord } from "../../src/record/index.ts";
import { causesInWords, checkOfExchange, checksOfCause, requirementSentence, weightOf } from "../causes.ts";
import { oneLine } from "../clean-text.ts";
import { controlOf } from "../evidence/control-request.ts";
import { curlLine, curlPreparation, keyVariables, maskNotes } from "../evidence/curl.ts";
import { type Evidence, outcomeOf } from "../evidence/evidence.ts";
import { rerunOf } from "../evidence/reproduce.ts";
import { SIGNS } from "../status-style.ts";
import type { Paint, TerminalOptions } from "./options.ts";

/** Causes that are shown with their evidence; the others get one line each. */
const MAX_DETAILED = 8;
const MAX_LISTED = 30;
const MAX_CHECKS = 4;

/** The causes of failures and warnings, worst first: each with a reproduction and the next step. */
export function renderCauses(record: RunRecord, options: TerminalOptions, paint: Paint): string {
  const { causes } = record;
  const summary = causesInWords(record);
  if (summary === undefined) return "";
  const lines = [`\n${summary}`];
  const commands: string[] = [];
  for (const [index, cause] of causes.slice(0, MAX_LISTED).entries()) {
    const title = paint(cause.weight, `${SIGNS[cause.weight]} ${weightOf(record, cause)}: ${oneLine(cause.title)}`);
    const detailed = index < MAX_DETAILED;
    lines.push(detailed ? `\n${title}` : `${title}  ${oneLine(cause.requirement)}, ${checksOfCause(cause, 1)}`);
    if (detailed) lines.push(...details(cause, record, { ...options, commands }).map((line) => `    ${line}`));
  }
  if (causes.length > MAX_LISTED) lines.push(`and ${causes.length - MAX_LISTED} more causes; the report has all`);
  const preparation = curlPreparation(commands, record).map((text) => oneLine(text, 500));
  if (preparation.length > 0) lines.push("", ...preparation);
  return lines.join("\n");
}

interface DetailOptions extends TerminalOptions {
  /** Receives the printed curl commands. */
  readonly commands: string[];
}

function details(cause: Cause, record: RunRecord, { colors, evidence, commands }: DetailOptions): string[] {
  const exchange = cause.exchange === undefined ? undefined : evidence(cause.exchange);
  const check = checkOfExchange(record, cause);
  const variableOf = keyVariables(record.configuration.value);
  const control = check === undefined || exchange === undefined ? undefined : controlOf(check, exchange, { evidence });
  const exchangeLines = (title: string, { exchange: shown, otherwise }: Shown): string[] => {
    if (shown === undefined) return [];
    const head = `${title} ${shown.id}, ${outcomeOf(shown)}`;
    const command = curlLine(shown, variableOf);
    // A command has a line of its own, so that it can be selected and pasted.
    if (command !== undefined) {
      commands.push(command);
      return [`${head}:`, colors.dim(command), ...maskNotes(command, variableOf)];
    }
    return otherwise === undefined
      ? [head]
      : [`${head}; it cannot be written as a curl command. To send it again:`, otherwise];
  };
  return [
    oneLine(requirementSentence(record, cause)),
    `in ${checksOfCause(cause, MAX_CHECKS)}${titleOf(record, cause)}`,
    ...exchangeLines("exchange", { exchange, otherwise: rerunOf(record, check?.id ?? cause.checks[0] ?? "") }),
    ...exchangeLines("control request", { exchange: control }),
    cause.advice,
  ];
}

/** The title of the cause's checks, if all share one: for a custom suite, the requirement does not say what is tested. */
function titleOf({ checks }: RunRecord, cause: Cause): string {
  const titles = new Set(checks.filter(({ id }) => cause.checks.includes(id)).map(({ title }) => title));
  const [title] = titles;
  return title === undefined || titles.size > 1 ? "" : `: ${oneLine(title, 160)}`;
}

interface Shown {
  readonly exchange: Evidence | undefined;
  /** What to run if the request cannot be written as a curl command. */
  readonly otherwise?: string;
}
