import { describePartial } from "../../../reports/text/index.ts";
import { EXIT } from "../../core/index.ts";
import { conclusionOf } from "../../judging/index.ts";
import { type CheckResult, countMet, type Finding, type ProfileResult, type RunVerdict } from "../../record/index.ts";
import { isRequirementId, type Profile, profileNamed } from "../../requirements/index.ts";
import { byId, isAbout, isBroken, judgesOf, levelsOf, type ProfileContext } from "./profile-scope.ts";

/**
 * The results that decide a run with chosen profiles, reduced to what those require. Custom suites, and what a workload itself
 * demands, decide as always: they were requested. A load that decided nothing was requested as well.
 */
export function decidingResults(results: readonly CheckResult[], context: ProfileContext): CheckResult[] {
  const known = byId(context.instances);
  const chosen = context.profiles.flatMap((name) => {
    const profile = profileNamed(name);
    return profile === undefined ? [] : [requiredBy(profile, context)];
  });
  return results.flatMap((result): CheckResult[] => {
    const isBuiltIn = known.has(result.id);
    const isLoad = !isBuiltIn && result.id.startsWith("load.");
    if (!isBuiltIn && !isLoad) return [result];
    const about = chosen.filter(({ profile }) => isAbout(profile, result, known));
    // What a load is judged by besides requirements, such as thresholds.
    const counts = ({ requirements }: Pick<Finding, "requirements">) =>
      !requirements.some(isRequirementId) || requirements.some((id) => about.some(({ levels }) => levels.has(id)));
    const findings = result.findings.filter(counts);
    switch (result.status) {
      case "harness-error":
      case "blocked":
      case "inconclusive": {
        const isOpen = isLoad || findings.some(({ outcome }) => outcome === "undecided");
        return isOpen || about.some(({ judges }) => judges.has(result.id)) ? [result] : [];
      }
      case "fail":
      case "flaky": {
        const isViolated = findings.some((finding) => isBroken(finding) && finding.weight === "fail");
        if (isViolated) return [{ ...result, findings }];
        const isJudged = countMet(findings) > 0 || findings.some(({ outcome }) => outcome === "undecided");
        return isJudged ? [{ ...result, findings, ...conclusionOf(findings), waived: undefined }] : [];
      }
      default:
        return findings.length === 0 ? [] : [{ ...result, findings, ...conclusionOf(findings) }];
    }
  });
}

/** What a profile requires of a target, and the ids of the instances that judge one of its MUSTs. */
function requiredBy(profile: Profile, context: ProfileContext) {
  const levels = levelsOf(profile, context.declared);
  const musts = [...levels].flatMap(([id, level]) => (level === "MUST" ? [id] : []));
  const judges = new Set(musts.flatMap((id) => judgesOf(profile, id, context).map((instance) => instance.id)));
  return { profile, levels, judges };
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
