import type { CheckChange, Comparison } from "./comparison-section.ts";
import { FAILED, type Status, UNDECIDED } from "./status.ts";

/**
 * What became of checks between two runs. A check that is gone, that is not decided any more or does not apply any more has not
 * been fixed.
 *
 * @param before statuses by instance id.
 * @param ran which checks the later run meant to run: one that was not selected has not vanished.
 */
export function checkChanges(
  before: ReadonlyMap<string, Status>,
  now: readonly { readonly id: string; readonly status: Status; readonly message: string }[],
  ran: (id: string) => boolean = () => true,
): Comparison["checks"] {
  const changes: Comparison["checks"] = { newlyFailing: [], fixed: [], vanished: [], added: [], other: [] };
  const present = new Set(now.map(({ id }) => id));
  for (const [id, status] of before) {
    if (!present.has(id) && ran(id)) changes.vanished.push({ id, before: status, now: null, message: "" });
  }
  for (const { id, status, message } of now) {
    const was = before.get(id) ?? null;
    const change: CheckChange = { id, before: was, now: status, message };
    if (was === status) continue;
    if (FAILED.includes(status) && (was === null || !FAILED.includes(was))) changes.newlyFailing.push(change);
    else if (was === null) changes.added.push(change);
    else if (FAILED.includes(was) && !FAILED.includes(status) && !UNDECIDED.includes(status))
      changes.fixed.push(change);
    else changes.other.push(change);
  }
  return changes;
}
