import { stringify } from "yaml";
import { groupBy } from "../../core/index.ts";
import type { CheckResult } from "../../record/index.ts";
import { fingerprintOf } from "./fingerprint.ts";
import { growthOf, largestOf, magnitudesOf } from "./magnitude.ts";

/** Days until a suggested waiver expires: long enough for a fix, short enough not to be forgotten. */
const DAYS = 30;

/**
 * A waiver file for the failures of a run. Reason and owner are empty, and such a file is rejected when it is read, so that
 * nobody waives by accident.
 *
 * @param nowMs Unix epoch, ms; the waivers expire 30 days later.
 */
export function suggestWaivers(results: readonly CheckResult[], nowMs: number): string {
  const failed = results.filter(({ status }) => status === "fail" || status === "flaky");
  const expires = new Date(nowMs + DAYS * 86_400_000).toISOString().slice(0, 10);
  const groups = [...groupBy(failed, fingerprintOf)].flatMap(([fingerprint, alike]) =>
    byMagnitude(alike).map((group) => ({ fingerprint, group })),
  );
  const entries = groups.map(({ fingerprint, group }) => {
    const checks = group.map(({ id }) => id);
    const comment = `# ${group[0].title}: ${group[0].message}`.replace(/\p{Cc}+|[\u2028\u2029]/gu, " ");
    const magnitudes = largestOf(group.map(magnitudesOf));
    const entry = { checks, reason: "", owner: "", expires, fingerprint, magnitudes };
    return `${indent(comment)}\n${indent(stringify([entry]).trimEnd())}`;
  });
  const head = "# Known failures that are accepted until a date. Fill in reason and owner; both are required.\n";
  return entries.length === 0 ? `${head}waivers: []\n` : `${head}waivers:\n${entries.join("\n")}\n`;
}

/** Groups instances with failures of about the same size, so that a small failure is not waived like a large one. */
function byMagnitude(alike: readonly [CheckResult, ...CheckResult[]]): [CheckResult, ...CheckResult[]][] {
  const groups: [CheckResult, ...CheckResult[]][] = [];
  for (const result of alike) {
    const own = magnitudesOf(result);
    const near = groups.find(([first]) => {
      const other = magnitudesOf(first);
      return growthOf(own, other) === undefined && growthOf(other, own) === undefined;
    });
    if (near === undefined) groups.push([result]);
    else near.push(result);
  }
  return groups;
}

function indent(text: string): string {
  return text.replace(/^/gm, "  ");
}
