import { didYouMean, nearestOf } from "../core/index.ts";
import { LAYERS, LOAD_DIALECTS, LOAD_OUTCOMES, STATUSES } from "../record/index.ts";
import { DENIALS } from "../requirements/index.ts";
import type { Labels } from "./metric.ts";

/**
 * Labels with a closed set of values. The values of the others (`tier`, `phase`, `gateway`, `suite`, `check`) depend on the
 * run.
 */
const CLOSED: Readonly<Record<string, readonly string[]>> = {
  status: STATUSES,
  layer: LAYERS,
  dialect: LOAD_DIALECTS,
  stream: ["true", "false"],
  outcome: LOAD_OUTCOMES,
};
const WHOLE_NUMBERS: readonly string[] = ["concurrency", "prompt_bytes"];
const REASONS: readonly string[] = DENIALS.map(({ reason }) => reason);

/** Why a label can never have this value; `undefined` if it can. */
export function valueProblem(label: string, value: string): string | undefined {
  const known = CLOSED[label];
  if (known !== undefined && !known.includes(value))
    return `has the unknown value ${label}=${value}. ${didYouMean(value, known)}Possible values: ${known.join(", ")}`;
  if (WHOLE_NUMBERS.includes(label) && !/^\d+$/.test(value))
    return `has ${label}=${value}; expected a whole number, as in ${label}=8`;
  if (label !== "reason" || REASONS.includes(value)) return undefined;
  const meant = meantReason(value);
  return meant === undefined
    ? undefined
    : `has reason=${value}, which is not in the denial table. Did you mean "${meant}"? If the target's contract renames a reason, use the name from the table: ${REASONS.join(", ")}`;
}

/** A gateway may have its own reasons. One that is similar to a reason of the table counts as a misspelling of it. */
function meantReason(value: string): string | undefined {
  const lower = value.toLowerCase();
  const part =
    lower.length < 4 ? undefined : REASONS.find((reason) => reason.includes(lower) || lower.includes(reason));
  return part ?? nearestOf(lower, REASONS);
}

/** Whether a value that a run does not have counts as zero, because the run could have had it. */
function countsAsZero(label: string, value: string): boolean {
  return label === "reason" ? REASONS.includes(value) : CLOSED[label] !== undefined;
}

const MAX_LISTED = 8;

/**
 * Describes the selector of a threshold that matched nothing. A misspelled name must not count as zero.
 *
 * @param isCount whether a known value that does not occur counts as zero, as in `denied{reason=budget_exhausted}`.
 * @param isMatch whether a measurement has these labels.
 */
export function unmatchedLabel(
  selected: Labels,
  all: readonly { readonly labels: Labels }[],
  { isCount, isMatch }: { readonly isCount: boolean; readonly isMatch: (selected: Labels, labels: Labels) => boolean },
): string | undefined {
  for (const [label, value] of Object.entries(selected)) {
    if (isCount && countsAsZero(label, value)) continue;
    if (all.some(({ labels }) => isMatch({ [label]: value }, labels))) continue;
    const seen = [...new Set(all.flatMap(({ labels }) => labels[label] ?? []))].sort();
    const more = seen.length > MAX_LISTED ? `, and ${seen.length - MAX_LISTED} more` : "";
    const there = seen.length === 0 ? "" : `; this run has ${seen.slice(0, MAX_LISTED).join(", ")}${more}`;
    return `nothing in this run has ${label}=${value}${there}`;
  }
  return undefined;
}
