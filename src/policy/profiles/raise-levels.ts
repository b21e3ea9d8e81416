import { conclusionOf } from "../../judging/index.ts";
import type { CheckResult, Finding } from "../../record/index.ts";
import { profileNamed } from "../../requirements/index.ts";
import { byId, isAbout, isBroken, levelsOf, type ProfileContext } from "./profile-scope.ts";

/**
 * Applies the levels of the chosen profiles: what a profile raises to MUST fails instead of warning. Before waivers are applied,
 * so that they can cover it. A blocked check stays blocked: nothing that it compared counts.
 */
export function raiseLevels(results: readonly CheckResult[], context: ProfileContext | undefined): CheckResult[] {
  if (context === undefined) return [...results];
  const known = byId(context.instances);
  const chosen = context.profiles.flatMap((name) => profileNamed(name) ?? []);
  return results.map((result) => {
    const raised = new Set(
      chosen
        .filter((profile) => isAbout(profile, result, known))
        .flatMap((profile) => [...levelsOf(profile, context.declared)])
        .flatMap(([id, level]) => (level === "MUST" ? id : [])),
    );
    const isRaised = (finding: Finding) =>
      isBroken(finding) && finding.weight === "warn" && finding.requirements.some((id) => raised.has(id));
    if (result.status === "blocked" || !result.findings.some(isRaised)) return result;
    const findings = result.findings.map((one): Finding => (isRaised(one) ? { ...one, weight: "fail" } : one));
    const before = { ...result, findings };
    if (result.status === "inconclusive")
      return { ...before, ...conclusionOf(findings), reason: undefined, undecided: result.message };
    if (result.status !== "warn") return before;
    const isFlaky = (result.rounds ?? []).some(({ status }) => status === "pass" || status === "observed");
    return { ...before, status: isFlaky ? "flaky" : "fail" };
  });
}
