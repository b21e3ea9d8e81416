import { causesOf } from "../../judging/index.ts";
import type { CheckResult, Finding, ProfileResult, RequirementResult } from "../../record/index.ts";
import { PROFILES, type Profile, profileHash } from "../../requirements/index.ts";
import { judgeRequirement } from "./judge-requirement.ts";
import { byId, type InstancesById, isAbout, isBroken, type ProfileContext } from "./profile-scope.ts";

/**
 * The result of every profile. Pure: it depends on the results of the checks, what was chosen, and which checks exist.
 *
 * @param results of a run, after waivers.
 */
export function judgeProfiles(results: readonly CheckResult[], context: ProfileContext): ProfileResult[] {
  const byName = new Map(results.map((result) => [result.id, result]));
  const known = byId(context.instances);
  return PROFILES.map((profile) => {
    const requirements = profile.requirements.map((requirement) =>
      judgeRequirement(profile, requirement, { results: byName, context, known }),
    );
    const claimed = context.profiles.includes(profile.name);
    return {
      name: profile.name,
      version: profile.version,
      sha256: profileHash(profile),
      claimed,
      result: resultOf(requirements, claimed),
      causes: countCauses(profile, requirements, { results, known }),
      requirements,
    };
  });
}

const of = (requirements: readonly RequirementResult[], ...results: RequirementResult["result"][]) =>
  requirements.filter(({ level, result }) => level === "MUST" && results.includes(result));

function resultOf(requirements: readonly RequirementResult[], claimed: boolean): ProfileResult["result"] {
  if (of(requirements, "broken").length > 0) return "not-conformant";
  const open = of(requirements, "waived", "undecided", "blocked", "skipped", "not-judged");
  // Nothing judged is never conformant, even if no MUST applies.
  if (open.length === 0 && of(requirements, "met").length > 0) return "conformant";
  const isTested = open.length > 0 && open.length === of(open, "waived", "undecided").length;
  return claimed || isTested ? "partial" : "not-claimed";
}

function countCauses(
  profile: Profile,
  requirements: readonly RequirementResult[],
  { results, known }: { readonly results: readonly CheckResult[]; readonly known: InstancesById },
): number {
  const broken = new Set(of(requirements, "broken").map(({ id }) => id));
  if (broken.size === 0) return 0;
  const violating = results
    .filter((result) => isAbout(profile, result, known))
    .flatMap((result) => {
      const findings = result.findings
        .filter((finding) => isBroken(finding) && finding.requirements.some((id) => broken.has(id)))
        .map((finding): Finding => ({ ...finding, weight: "fail" }));
      return findings.length === 0 ? [] : [{ ...result, status: "fail" as const, findings }];
    });
  return Math.max(1, causesOf(violating).length);
}
