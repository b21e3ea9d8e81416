import { conclusionOf } from "../../judging/index.ts";
import type { CheckResult, Finding } from "../../record/index.ts";

const NOTE = "not yet scored: this requirement is newer than the requirement set of the target";

/**
 * Removes requirements that are newer than the target's requirement set from the judgement: findings about them become
 * observations.
 */
export function scoreBySet(results: readonly CheckResult[], unscored: readonly string[]): CheckResult[] {
  if (unscored.length === 0) return [...results];
  const isUnscored = ({ requirements: [main = ""] }: Finding) => unscored.includes(main);
  return results.map((result) => {
    if (!result.findings.some(isUnscored)) return result;
    const findings = result.findings.map((finding): Finding => {
      if (!isUnscored(finding)) return finding;
      const { deviation: _deviation, reason: _reason, ...rest } = finding;
      const subject = finding.subject === undefined ? NOTE : `${finding.subject}; ${NOTE}`;
      return { ...rest, outcome: "observed", weight: "none", subject };
    });
    const judged = result.status === "fail" || result.status === "warn" || result.status === "pass";
    const { undecided } = result;
    const open = undecided === undefined ? undefined : ({ status: "inconclusive", message: undecided } as const);
    const { status } = judged ? conclusionOf(findings, open) : result;
    return {
      ...result,
      findings,
      status,
      message:
        status === result.status ? result.message : ((status === "inconclusive" ? undecided : undefined) ?? NOTE),
      violated: result.violated.filter((requirement) => !unscored.includes(requirement)),
    };
  });
}
