import type { CheckResult, Finding, Status } from "../record/index.ts";

const NOTE = "not yet scored: this requirement is newer than the requirement set of the target";

/**
 * Takes requirements that are newer than the target's requirement set out of the judgement: what was found under them is shown as
 * an observation.
 */
export function scoreBySet(results: readonly CheckResult[], unscored: readonly string[]): CheckResult[] {
  if (unscored.length === 0) return [...results];
  return results.map((result) => {
    if (!result.findings.some(({ requirement }) => unscored.includes(requirement))) return result;
    const findings = result.findings.map((finding): Finding => {
      if (!unscored.includes(finding.requirement)) return finding;
      const note = finding.note === undefined ? NOTE : `${finding.note}; ${NOTE}`;
      return { ...finding, outcome: "observed", weight: "none", note };
    });
    const judged = result.status === "fail" || result.status === "warn" || result.status === "pass";
    const status = judged ? statusOf(findings) : result.status;
    return {
      ...result,
      findings,
      status,
      message: status === result.status ? result.message : NOTE,
      violated: result.violated.filter((requirement) => !unscored.includes(requirement)),
    };
  });
}

function statusOf(findings: readonly Finding[]): Status {
  const broken = findings.filter(({ outcome }) => outcome === "broken");
  if (broken.some(({ weight }) => weight === "fail")) return "fail";
  if (broken.length > 0) return "warn";
  return findings.some(({ outcome }) => outcome === "met") ? "pass" : "observed";
}
