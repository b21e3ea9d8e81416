import { formatNumber } from "../src/core/index.ts";
import { type Cause, type CheckResult, explainedBy, type RunRecord } from "../src/record/index.ts";
import { oneLine } from "./clean-text.ts";
import { plural } from "./html/format.ts";

/** `11 check instances (8 failed, 3 warned)`: how many results a cause explains, counted separately if not all of them failed. */
export function weightOf({ checks }: Pick<RunRecord, "checks">, cause: Cause): string {
  const { failed, warned } = countProblems(checks, new Set(cause.checks));
  const parts = failed === 0 || warned === 0 ? "" : ` (${formatNumber(failed)} failed, ${formatNumber(warned)} warned)`;
  return `${plural(cause.checks.length, "check instance")}${parts}`;
}

function countProblems(checks: RunRecord["checks"], ids: ReadonlySet<string>) {
  const count = (...statuses: string[]) =>
    checks.filter(({ id, status }) => ids.has(id) && statuses.includes(status)).length;
  return { failed: count("fail", "flaky"), warned: count("warn") };
}

/**
 * `2 causes explain 8 check instances: 5 failed, 3 warned.`, or `1 check instance failed, with 2 causes.`; `undefined` if there are no
 * causes.
 */
export function causesInWords({ causes, checks }: RunRecord): string | undefined {
  if (causes.length === 0) return undefined;
  const { failed, warned } = countProblems(checks, explainedBy(causes));
  const parts = [
    ...(failed === 0 ? [] : [`${formatNumber(failed)} failed`]),
    ...(warned === 0 ? [] : [`${formatNumber(warned)} warned`]),
  ];
  if (failed + warned === 1) {
    const withCauses = causes.length === 1 ? "" : `, with ${plural(causes.length, "cause")}`;
    return `1 check instance ${failed === 1 ? "failed" : "warned"}${withCauses}.`;
  }
  const explains = causes.length === 1 ? "explains" : "explain";
  return `${plural(causes.length, "cause")} ${explains} ${plural(failed + warned, "check instance")}: ${parts.join(", ")}.`;
}

/** `ERR-HDR-1 (MUST): A gateway denial carries …`: the first requirement that a cause violates, with its sentence. */
export function requirementSentence({ requirements }: RunRecord, { requirement }: Cause): string {
  const known = requirements.find(({ id }) => id === requirement);
  return known === undefined ? requirement : `${known.id} (${known.level}): ${known.text}`;
}

/** The first few checks of a cause, and the number of the others. */
export function checksOfCause({ checks }: Pick<Cause, "checks">, most: number): string {
  const shown = checks.slice(0, most).map((id) => oneLine(id, 160));
  return `${shown.join(", ")}${checks.length > most ? ` and ${checks.length - most} more` : ""}`;
}

/** The result whose exchange represents a cause: its exchanges include the control request. */
export function checkOfExchange({ checks }: RunRecord, cause: Cause): CheckResult | undefined {
  const explained = new Set(cause.checks);
  const candidates = checks.filter(({ id }) => explained.has(id));
  return candidates.find(({ exchanges }) => exchanges.some((id) => id === cause.exchange)) ?? candidates[0];
}
