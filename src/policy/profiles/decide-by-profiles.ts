import { describePartial } from "../../../reports/text/index.ts";
import { EXIT } from "../../core/index.ts";
import { conclusionOf } from "../../judging/index.ts";
import { type CheckResult, countMet, type Finding, type ProfileResult, type RunVerdict } from "../../record/index.ts";
import { isRequirementId, profileNamed } from "../../requirements/index.ts";
import { byId, isAbout, isBroken, judgesOf, levelsOf, type ProfileContext } from "./profile-scope.ts";

/**
 * The results that decide a run with chosen profiles, reduced to what those require. Custom suites, and what a workload itself
 * demands, decide as always: they were requested.
 */
export function decidingResults(results: readonly CheckResult[], context: ProfileContext): CheckResult[] {
  const known = byId(context.instances);
  const chosen = context.profiles.flatMap((name) => profileNamed(name) ?? []);
  return results.flatMap((result): CheckResult[] => {
    const isOwn = !known.has(result.id) && !result.id.startsWith("load.");
    if (isOwn) return [result];
    const about = chosen.filter((profile) => isAbout(profile, result, known));
    const required = new Set(about.flatMap((profile) => [...levelsOf(profile, context.declared).keys()]));
    // What a load is judged by besides requirements, such as thresholds.
    const counts = ({ requirements }: Pick<Finding, "requirements">) =>
      requirements.some((id) => required.has(id)) || !requirements.some(isRequirementId);
    const isJudge =
      !known.has(result.id) && !result.requirements.some(isRequirementId)
        ? true
        : about.some((profile) =>
            [...levelsOf(profile, context.declared)].some(
              ([id, level]) =>
                level === "MUST" && judgesOf(profile, id, context).some((instance) => instance.id === result.id),
            ),
          );
    const findings = result.findings.filter(counts);
    switch (result.status) {
      case "harness-error":
      case "blocked":
      case "inconclusive":
        return isJudge ? [result] : [];
      case "fail":
      case "flaky": {
        const isViolated = findings.some((finding) => isBroken(finding) && finding.weight === "fail");
        if (isViolated) return [{ ...result, findings }];
        return countMet(findings) === 0 ? [] : [{ ...result, findings, ...conclusionOf(findings), waived: undefined }];
      }
      default:
        return findings.length === 0 ? [] : [{ ...result, findings, ...conclusionOf(findings) }];
    }
  });
}

/**
 * Applies the chosen profiles to the verdict of what they require. A profile that is partial, for more than waivers, keeps the run
 * from passing: what it requires was not tested. Never improves a verdict.
 */
export function decideByProfiles(verdict: RunVerdict, profiles: readonly ProfileResult[]): RunVerdict {
  const claimed = profiles.filter((profile) => profile.claimed);
  const broken = claimed.filter(({ result }) => result === "not-conformant");
  const open = claimed.filter(({ result, requirements }) => result === "partial" && !isOnlyWaived(requirements));
  const decisive = verdict.result !== "pass" ? [] : broken.length > 0 ? broken : open;
  if (decisive.length === 0) return verdict;
  const result = broken.length > 0 ? "fail" : "inconclusive";
  const wasInterrupted = verdict.exitCode === EXIT.interrupted || verdict.exitCode === EXIT.terminated;
  return {
    ...verdict,
    result,
    exitCode: wasInterrupted ? verdict.exitCode : result === "fail" ? EXIT.gateFailed : EXIT.inconclusive,
    headline: result.toUpperCase() + verdict.headline.slice(verdict.result.length),
    reasons: [
      ...verdict.reasons,
      ...decisive.map((profile) => ({ kind: "profile" as const, text: describePartial(profile) })),
    ],
  };
}

const isOnlyWaived = (requirements: ProfileResult["requirements"]): boolean =>
  requirements.every(({ level, result }) => level !== "MUST" || ["met", "waived", "not-applicable"].includes(result));
