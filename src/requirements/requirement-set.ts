import { LEDGER, type RowId } from "./ledger.ts";

/** Number of the requirement set in use; raised when rows are added, changed or dropped after a release. */
export const REQUIREMENT_SET = 1;

/** Rows that came after the first set, with the set that brought them. */
export const ADDED_IN: Readonly<Partial<Record<RowId, number>>> = {};

/** Rows that are newer than a set: a target that pins it is not judged by them yet. */
export function rowsAfter(set: number, added: Readonly<Partial<Record<RowId, number>>> = ADDED_IN): RowId[] {
  return LEDGER.map(({ id }) => id).filter((id) => (added[id] ?? 1) > set);
}
