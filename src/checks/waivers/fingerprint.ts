import { createHash } from "node:crypto";
import type { CheckResult, Finding } from "../../record/index.ts";

/** Digits of a fingerprint: enough that two ways to fail do not meet by chance, few enough to read out. */
const DIGITS = 12;

/**
 * How a check fails, in a few digits: the requirements that are broken, where, what was asked and what came instead. Counts, times
 * and texts that differ from run to run are left out; a status or a named reason is not: another one is another failure.
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

/** A value without what changes by itself. */
function stable(text: string, pointer: string): string {
  if (pointer === "status" || text === "absent") return text;
  // A word such as "rate_limit_exceeded" is a name; anything longer may hold ids, texts or times.
  if (/^"[a-z][a-z_.-]{0,60}"$/.test(text) || /^(true|false|null)$/.test(text)) return text;
  if (/^[a-z -]{1,80}$/i.test(text)) return text;
  return text.replace(/"(?:[^"\\]|\\.)*"/g, '""').replace(/\d+(?:\.\d+)?/g, "#");
}
