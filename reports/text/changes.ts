import { groupBy } from "../../src/core/index.ts";
import type { Cause, CheckChange, Comparison, ComparisonReason } from "../../src/record/index.ts";

/** How the checks of a run differ from an earlier run, in the order of their weight; improvements are not among them. */
export function describeChanges({ newlyFailing, vanished, worse, lost }: Comparison["checks"]): ComparisonReason[] {
  const worseLines = [
    ...describeNewFailures(newlyFailing),
    ...countedLine(vanished, "is missing", "are missing"),
    ...countedLine(worse, "newly warns", "newly warn"),
  ];
  return [
    ...worseLines.map((text) => ({ status: "fail" as const, text, detail: "checks" as const })),
    ...lostLine(lost).map((text) => ({ status: "inconclusive" as const, text, detail: "checks" as const })),
  ];
}

/** `auth.unknown-key[messages] and 7 more newly fail`; empty if nothing does. */
export const describeNewFailures = (newlyFailing: readonly CheckChange[]): string[] =>
  countedLine(newlyFailing, "newly fails", "newly fail");

function countedLine(changes: readonly CheckChange[], one: string, many: string): string[] {
  const [first] = changes;
  if (first === undefined) return [];
  return changes.length === 1 ? [`${first.id} ${one}`] : [`${first.id} and ${changes.length - 1} more ${many}`];
}

function lostLine(lost: readonly CheckChange[]): string[] {
  const [first] = lost;
  if (first === undefined) return [];
  const more = lost.length === 1 ? "" : ` (and ${lost.length - 1} more)`;
  const why = first.message === "" ? "" : `: ${first.message}`;
  return [`${first.id} was decided (${first.before}) and is now ${first.now}${why}${more}`];
}

/** Changed checks with one cause. */
export interface ChangesOfCause {
  /** The cause in one sentence; `undefined`: no cause is known, and the message of the check says what was found. */
  readonly title: string | undefined;
  readonly changes: readonly [CheckChange, ...CheckChange[]];
}

/**
 * Changed checks by cause, in the order of their first change. A check with several causes is in the group of the first of them;
 * one without any is a separate group.
 */
export function changesByCause(changes: readonly CheckChange[], causes: readonly Cause[]): ChangesOfCause[] {
  const causeOf = ({ id }: CheckChange) => causes.find(({ checks }) => checks.includes(id));
  const groups = groupBy(changes, (change) => causeOf(change)?.title ?? `\n${change.id}`);
  return [...groups.values()].map((some) => ({ title: causeOf(some[0])?.title, changes: some }));
}
