import type { CheckChange, Comparison } from "./sections/comparison-section.ts";
import { DECIDED, FAILED, type Status } from "./status.ts";

interface Result {
  readonly id: string;
  readonly status: Status;
  readonly message: string;
}

export interface CheckSides {
  /** Statuses of the earlier run by instance id. */
  readonly before: ReadonlyMap<string, Status>;
  readonly now: readonly Result[];
  /** Whether a run selected a check that it has no result for. Checks that were not selected are not compared. */
  readonly wasSelected?: (id: string) => boolean;
  readonly isSelected?: (id: string) => boolean;
}

/**
 * How checks changed between two runs. A check that has vanished, is no longer decided or no longer applies is lost: it is
 * neither fixed nor unchanged.
 */
export function checkChanges({
  before,
  now,
  wasSelected = () => true,
  isSelected = () => true,
}: CheckSides): Comparison["checks"] {
  const changes: Comparison["checks"] = {
    ...{ newlyFailing: [], worse: [], lost: [], vanished: [], fixed: [], added: [], other: [] },
    notCompared: { onlyA: 0, onlyB: 0 },
  };
  const present = new Set(now.map(({ id }) => id));
  for (const [id, status] of before) {
    if (present.has(id)) continue;
    if (isSelected(id)) changes.vanished.push({ id, before: status, now: null, message: "" });
    else changes.notCompared.onlyA++;
  }
  for (const { id, status, message } of now) {
    const was = before.get(id) ?? null;
    if (was === null && !wasSelected(id)) changes.notCompared.onlyB++;
    else if (was !== status) changes[kindOf(was, status)].push({ id, before: was, now: status, message });
  }
  return changes;
}

function kindOf(was: CheckChange["before"], now: Status): Exclude<keyof Comparison["checks"], "notCompared"> {
  if (FAILED.includes(now) && (was === null || !FAILED.includes(was))) return "newlyFailing";
  if (was === null) return "added";
  if (DECIDED.includes(was) && !DECIDED.includes(now)) return "lost";
  if (was === "pass" && now === "warn") return "worse";
  return FAILED.includes(was) && !FAILED.includes(now) ? "fixed" : "other";
}
