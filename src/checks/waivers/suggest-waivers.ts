import { stringify } from "yaml";
import { groupBy } from "../../core/index.ts";
import type { CheckResult } from "../../record/index.ts";
import { fingerprintOf } from "./fingerprint.ts";

/** Days until a suggested waiver expires: long enough to mend something, short enough not to be forgotten. */
const DAYS = 30;

/**
 * A waiver file for the failures of a run. Reason and owner are left to be filled in: an empty one is refused when the
 * file is read, so that nobody waives by accident.
 *
 * @param nowMs Unix epoch, ms; the waivers expire 30 days later.
 */
export function suggestWaivers(results: readonly CheckResult[], nowMs: number): string {
  const failed = results.filter(({ status }) => status === "fail" || status === "flaky");
  const expires = new Date(nowMs + DAYS * 86_400_000).toISOString().slice(0, 10);
  const entries = [...groupBy(failed, fingerprintOf)].map(([fingerprint, group]) => {
    const checks = group.map(({ id }) => id);
    const comment = `# ${group[0].title}: ${group[0].message}`.replace(/\p{Cc}+|[\u2028\u2029]/gu, " ");
    return `${indent(comment)}\n${indent(stringify([{ checks, reason: "", owner: "", expires, fingerprint }]).trimEnd())}`;
  });
  const head = "# Failures that are known and accepted until a day. Fill in reason and owner; both are required.\n";
  return entries.length === 0 ? `${head}waivers: []\n` : `${head}waivers:\n${entries.join("\n")}\n`;
}

function indent(text: string): string {
  return text.replace(/^/gm, "  ");
}
