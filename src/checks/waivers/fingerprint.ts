import { createHash } from "node:crypto";
import { isObject } from "../../core/index.ts";
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

function signOf({ name, pointer = "", expected, observed }: Finding): string {
  return JSON.stringify([name, pointer, signOfSide(expected, pointer), signOfSide(observed, pointer)]);
}

/** An expected or observed side: a value, or words about it. */
function signOfSide(side: Finding["observed"] | Finding["expected"], pointer: string): unknown {
  if (side === undefined || !("text" in side)) return stable(side, pointer);
  if (side.kind === "excerpt") return side.kind;
  if (PLAIN_WORDS.test(side.text)) return side.text;
  return side.text.replace(/"(?:[^"\\]|\\.)*"/g, '""').replace(/\d+(?:\.\d+)?/g, "#");
}

/** A value without the parts that vary from run to run. */
function stable(value: unknown, pointer: string): unknown {
  if (Array.isArray(value)) return value.map((one) => stable(one, pointer));
  if (isObject(value))
    return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, stable(one, pointer)]));
  if (typeof value === "number") return pointer === "status" ? value : "#";
  // A word such as `rate_limit_exceeded` is a name; other text may contain ids, texts or times.
  return typeof value !== "string" || NAME.test(value) ? value : "";
}

const NAME = /^[a-z][a-z_.-]{0,60}$/;
const PLAIN_WORDS = /^[a-z -]{1,80}$/i;
