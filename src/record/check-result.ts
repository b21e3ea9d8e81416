import { z } from "zod";
import { STATUSES, type Status } from "./status.ts";

export const LAYERS = ["specification", "protocol", "compat"] as const;
export const layer = z.enum(LAYERS);

/** One comparison of expected and observed. */
export const findingSchema = z.strictObject({
  /** Stable name of the comparison: the id of its requirement, or a name such as `concurrency.exceeded`. */
  name: z.string(),
  /** What must hold, as a sentence, if the title of the result does not say it. */
  title: z.string().optional(),
  /** Requirements that it refers to, the main one first. */
  requirements: z.array(z.string()),
  /**
   * `met` and `broken` are judgements; `observed` decides nothing; `undecided` is a question that could not be decided but had
   * to be: the verdict is then inconclusive at best.
   */
  outcome: z.enum(["met", "broken", "observed", "undecided"]),
  /** Severity of a miss: a finding about a MUST may still be a warning, if it covers only part of the requirement. */
  weight: z.enum(["fail", "warn", "none"]),
  /** `timing`: it depends on times and counts, so it says nothing if the generator was not valid. Absent: content. */
  basis: z.enum(["content", "timing"]).optional(),
  expected: z.string().optional(),
  observed: z.string(),
  /** JSON pointer into the body, or the name of a header, or `status`. */
  pointer: z.string().optional(),
  /** Exchanges in which it was seen, if they were kept. */
  exchanges: z.array(z.string()),
  note: z.string().optional(),
  /**
   * How often the same expectation was met at the same place; absent: once. The observed value, the exchange and the note are
   * those of the first time. Findings that were not met are never merged.
   */
  count: z.int().min(2).optional(),
  /**
   * How far an expectation was missed, in a measure that grows with the failure: a share, or a multiple of the bound. Absent if
   * there is no such measure.
   */
  magnitude: z.number().nonnegative().optional(),
});

export const attestationSchema = z.strictObject({
  state: z.string(),
  /** `observed`: the harness saw it happen. `hook`: the provisioning hook states it. `asserted`: the operator does. */
  by: z.enum(["observed", "hook", "asserted", "embedded"]),
});

/** A waiver by the gateway's team for one failing instance. */
export const waiverSchema = z.strictObject({
  /** Instance that it covers. */
  check: z.string(),
  reason: z.string(),
  owner: z.string(),
  /** Last day on which it is valid, YYYY-MM-DD, UTC. */
  expires: z.string(),
  /** How the instance fails. */
  fingerprint: z.string(),
  /** Size of the waived failure by finding. */
  magnitudes: z.record(z.string(), z.number()),
  /** File and line. */
  place: z.string(),
});

export const checkResultSchema = z.strictObject({
  /** Stable id with its axes: `errors.key-revoked[messages,streaming]`. */
  id: z.string(),
  /** Id of the declaration, without axes. */
  check: z.string(),
  suite: z.string(),
  title: z.string(),
  layer,
  axes: z.record(z.string(), z.string()),
  status: z.enum(STATUSES),
  /** Requirements that the check covers. */
  requirements: z.array(z.string()),
  /** Requirements that were violated. */
  violated: z.array(z.string()),
  /** The result in one sentence. */
  message: z.string(),
  findings: z.array(findingSchema),
  attestations: z.array(attestationSchema),
  /** What it could not decide in addition to its failure. */
  undecided: z.string().optional(),
  /** Lines of the target file that would unblock it. */
  unblock: z.array(z.string()),
  /** Exchanges that the judge read, in order. */
  exchanges: z.array(z.string()),
  durationMs: z.number(),
  /** An overlay: the failure is known and accepted until a date. The status does not change. */
  waived: waiverSchema.pick({ reason: true, owner: true, expires: true }).optional(),
  /** With `--repeat`: the result of each round. */
  rounds: z.array(z.strictObject({ status: z.enum(STATUSES), message: z.string() })).optional(),
});

export type Waiver = z.infer<typeof waiverSchema>;
export type Finding = z.infer<typeof findingSchema>;
export type CheckResult = z.infer<typeof checkResultSchema>;
export type Attestation = z.infer<typeof attestationSchema>;

/** How many comparisons were met. */
export function countMet(findings: readonly Finding[]): number {
  return findings.reduce((sum, { outcome, count = 1 }) => (outcome === "met" ? sum + count : sum), 0);
}

/** The status of a check with only this finding. */
export function statusOfFinding({ outcome, weight }: Pick<Finding, "outcome" | "weight">): Status {
  if (outcome === "broken") return weight === "fail" ? "fail" : "warn";
  if (outcome === "met") return "pass";
  return outcome === "undecided" ? "inconclusive" : "observed";
}
