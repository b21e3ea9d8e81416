import { createHash } from "node:crypto";
import type { CheckResult, Finding } from "../../record/index.ts";

/** Digits of a fingerprint: enough to avoid collisions, few enough to read out. */
const DIGITS = 12;

/**
 * How a check fails, in a few digits: the violated requirements, where, what was expected and what was observed. Counts, times
 * and texts that differ from run to run are omitted; a status or a named reason is not, because a different one is a different
 * failure.
 */
export function fingerprintOf({ check, findings }: Pick<CheckResult, "check" | "findings">): string {
  const broken = findings.filter(({ outcome, weight }) => outcome === "broken" && weight === "fail").map(signOf);
  return createHash("sha256")
    .update(JSON.stringify([check, ...[...new Set(broken)].sort()]))
    .digest("hex")
    .slice(0, DIGITS);
}

function signOf({ name, pointer = "", expected = "", observed }: Finding): string {
  return [name, pointer, stable(expected, pointer), stable(observed, pointer)].join(" ");
}

/** A value without the parts that vary from run to run. */
function stable(text: string, pointer: string): string {
  if (pointer === "status" || text === "absent") return text;
  // A word such as "rate_limit_exceeded" is a name; longer text may contain ids, texts or times.
  if (/^"[a-z][a-z_.-]{0,60}"$/.test(text) || /^(true|false|null)$/.test(text)) return text;
  if (/^[a-z -]{1,80}$/i.test(text)) return text;
  return text.replace(/"(?:[^"\\]|\\.)*"/g, '""').replace(/\d+(?:\.\d+)?/g, "#");
}
