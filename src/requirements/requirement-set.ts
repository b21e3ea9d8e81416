import { REQUIREMENTS, type RequirementId } from "./requirements.ts";

/** Number of the requirement set in use; raised when requirements are added, changed or dropped after a release. */
export const REQUIREMENT_SET = 1;

/** Requirements added after the first set, with the set that added them. */
export const ADDED_IN: Readonly<Partial<Record<RequirementId, number>>> = {};

/** Requirements newer than a set: a target that pins the set is not judged by them yet. */
export function requirementsAfter(
  set: number,
  added: Readonly<Partial<Record<RequirementId, number>>> = ADDED_IN,
): RequirementId[] {
  return REQUIREMENTS.map(({ id }) => id).filter((id) => (added[id] ?? 1) > set);
}
