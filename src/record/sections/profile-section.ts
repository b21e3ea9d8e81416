import * as z from "zod";

/** What the run claims for its gateway. */
export const claimedSchema = z.strictObject({
  /** Names of the chosen profiles: they decide what the run must meet. */
  profiles: z.array(z.string()),
  /** Optional parts that the target file declares, such as `tokenLimits`. */
  declared: z.array(z.string()),
});

/**
 * `conformant`: every MUST was judged and met. `not-conformant`: a MUST is violated. `partial`: a MUST is blocked, skipped, waived or
 * undecided. `not-claimed`: not chosen, and not tested completely.
 */
export const PROFILE_RESULTS = ["conformant", "not-conformant", "partial", "not-claimed"] as const;

/**
 * `skipped`: not selected, or a declared gap. `not-judged`: every check ran, and none compared it. `not-applicable`: it is about
 * an optional part that the target does not declare.
 */
export const REQUIREMENT_RESULTS = [
  "met",
  "broken",
  "waived",
  "undecided",
  "blocked",
  "skipped",
  "not-judged",
  "not-applicable",
] as const;

const requirementResultSchema = z.strictObject({
  id: z.string(),
  /** Level within the profile. */
  level: z.enum(["MUST", "SHOULD", "MAY", "OPEN"]),
  result: z.enum(REQUIREMENT_RESULTS),
  /** The check instances that decided the result, at most ten. */
  checks: z.array(z.string()),
  /** How often it was compared and met by the checks of the profile. */
  met: z.int(),
  /** Why it is neither met nor applicable, in one sentence. */
  why: z.string().optional(),
  /** An exchange in which it was seen broken, and the control request. */
  exchange: z.string().optional(),
  control: z.string().optional(),
});

export const profileResultSchema = z.strictObject({
  name: z.string(),
  version: z.int(),
  sha256: z.string(),
  /** Whether it was chosen, and so decides. */
  claimed: z.boolean(),
  result: z.enum(PROFILE_RESULTS),
  /** How many causes explain the violations of its MUSTs. */
  causes: z.int(),
  requirements: z.array(requirementResultSchema),
});

export type Claimed = z.infer<typeof claimedSchema>;
export type ProfileResult = z.infer<typeof profileResultSchema>;
export type RequirementResult = z.infer<typeof requirementResultSchema>;
