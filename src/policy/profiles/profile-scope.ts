import type { CheckResult, Finding } from "../../record/index.ts";
import type { Profile } from "../../requirements/index.ts";

/** A built-in check instance and what it covers. */
export interface Covering {
  readonly id: string;
  readonly check: string;
  readonly suite: string;
  readonly dialect: "chat" | "messages" | "any";
  readonly requirements: readonly string[];
}

/** The profiles of a run: which were chosen, which optional parts its target declares, and the checks that exist. */
export interface ProfileContext {
  readonly profiles: readonly string[];
  readonly declared: readonly string[];
  /** Every built-in check instance, whether it was run or not. */
  readonly instances: readonly Covering[];
}

export type InstancesById = ReadonlyMap<string, Covering>;

export const byId = (instances: readonly Covering[]): InstancesById => new Map(instances.map((one) => [one.id, one]));

/** Load results are about no dialect in particular. */
const OF_LOAD = /^load\./;

/** Whether violations in a result count for a profile: those of built-in checks and of loads, in its dialect. */
export function isAbout(
  { dialect }: Pick<Profile, "dialect">,
  { id }: Pick<CheckResult, "id">,
  known: InstancesById,
): boolean {
  const instance = known.get(id);
  if (instance === undefined) return OF_LOAD.test(id);
  return dialect === undefined || instance.dialect === "any" || instance.dialect === dialect;
}

/** The requirements of a profile that apply to a target, by id, with their level. */
export function levelsOf(
  { requirements }: Pick<Profile, "requirements">,
  declared: readonly string[],
): ReadonlyMap<string, Profile["requirements"][number]["level"]> {
  return new Map(
    requirements
      .filter(({ part }) => part === undefined || declared.includes(part))
      .map(({ id, level }) => [id, level] as const),
  );
}

/** The instances that must all have judged a requirement of a profile. */
export function judgesOf(
  profile: Profile,
  requirement: string,
  { declared, instances }: Pick<ProfileContext, "declared" | "instances">,
): readonly Covering[] {
  return instances.filter(({ check, suite, dialect, requirements }) => {
    const part = profile.optionalChecks[check];
    return (
      requirements.includes(requirement) &&
      profile.suites.includes(suite) &&
      (profile.dialect === undefined || dialect === "any" || dialect === profile.dialect) &&
      (part === undefined || declared.includes(part))
    );
  });
}

export const isBroken = ({ outcome }: Pick<Finding, "outcome">): boolean => outcome === "broken";
