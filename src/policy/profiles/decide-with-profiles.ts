import { type CheckResult, FAILED, type ProfileResult, type RunVerdict, UNDECIDED } from "../../record/index.ts";
import { type Circumstances, decide } from "../decide.ts";
import { decideByProfiles, decidingResults } from "./decide-by-profiles.ts";
import { judgeProfiles } from "./judge-profiles.ts";
import type { ProfileContext } from "./profile-scope.ts";

export interface Decision {
  readonly verdict: RunVerdict;
  /** Absent if no profile was chosen. */
  readonly profiles?: ProfileResult[];
  /** Ids of failed and undecided results that decide nothing, because no chosen profile requires them; absent as above. */
  readonly notDeciding?: string[];
}

/**
 * The verdict of a run, and the results of the profiles: if some were chosen, only what they require decides.
 *
 * @param results after waivers. @param context absent if no profile was chosen.
 */
export function decideWithProfiles(
  results: readonly CheckResult[],
  context: ProfileContext | undefined,
  circumstances: Circumstances,
): Decision {
  if (context === undefined) return { verdict: decide(results, circumstances) };
  const profiles = judgeProfiles(results, context);
  const deciding = decidingResults(results, context);
  const verdict = decideByProfiles(decide(deciding, circumstances), profiles);
  return { verdict, profiles, notDeciding: problemsWithout(results, deciding) };
}

/** Results that are failed or undecided, but not among the deciding results. */
function problemsWithout(results: readonly CheckResult[], deciding: readonly CheckResult[]): string[] {
  const isProblem = ({ status }: CheckResult) => FAILED.includes(status) || UNDECIDED.includes(status);
  const problems = new Set(deciding.filter(isProblem).map(({ id }) => id));
  return results
    .filter((result) => isProblem(result) && result.status !== "not-applicable" && !problems.has(result.id))
    .map(({ id }) => id);
}
