import { member } from "../core/index.ts";

/** The entries of a model list's body; none when it is no list. */
export function listEntries(json: unknown): readonly unknown[] {
  const data = member(json, "data");
  return Array.isArray(data) ? data : [];
}
