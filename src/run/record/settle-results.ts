import { applyWaivers, type Check, instancesOf, scoreBySet, type WaiverBreach } from "../../checks/index.ts";
import { UsageError } from "../../core/index.ts";
import { type ProfileContext, raiseLevels } from "../../policy/index.ts";
import type { CheckResult, Waiver } from "../../record/index.ts";
import { REQUIREMENT_SET, requirementsAfter } from "../../requirements/index.ts";
import type { Target } from "../../target/index.ts";

export interface Terms {
  /** Requirements that are newer than the target's requirement set. */
  readonly unscored: readonly string[];
  readonly waivers: readonly Waiver[];
  /** Every existing check, whether it ran or not. */
  readonly checks: readonly Check[];
  /** The chosen profiles. */
  readonly profiles?: ProfileContext | undefined;
  /** Day of the run, for the expiry of waivers. */
  readonly today: Date;
}

/** Applies what the gateway's team has agreed on to the results: its requirement set, its waivers. */
export function settle(
  results: readonly CheckResult[],
  { unscored, waivers, checks, profiles, today }: Terms,
): { readonly results: CheckResult[]; readonly breaches: readonly WaiverBreach[] } {
  const known = [...checks.flatMap(instancesOf), ...results].map(({ id }) => id);
  return applyWaivers(raiseLevels(scoreBySet(results, unscored), profiles), waivers, {
    today: today.toISOString().slice(0, 10),
    known,
  });
}

/**
 * Requirements that do not apply to a target yet.
 *
 * @throws UsageError when it pins a set that this harness does not have.
 */
export function unscoredRequirements({ requirementSet }: Pick<Target, "requirementSet">): string[] {
  if (requirementSet === undefined) return [];
  if (requirementSet <= REQUIREMENT_SET) return requirementsAfter(requirementSet);
  throw new UsageError(
    `the target pins requirement set ${requirementSet}; this harness has sets up to ${REQUIREMENT_SET}`,
    {
      hint: "Update the harness, or lower requirementSet in the target file.",
    },
  );
}
