import { z } from "zod";
import { STATUSES } from "./status.ts";

const level = z.enum(["MUST", "SHOULD", "MAY", "OPEN"]);
export const layer = z.enum(["specification", "protocol", "compat"]);

/** One thing a judge said: what a requirement asks for, what was seen, and where. */
export const findingSchema = z.strictObject({
  requirement: z.string(),
  level,
  layer,
  /** `met` and `broken` are judgements; `observed` is a fact under a requirement that decides nothing. */
  outcome: z.enum(["met", "broken", "observed"]),
  /** What a miss is worth: a claim about a MUST requirement may still be a warning, when only part of the requirement is meant. */
  weight: z.enum(["fail", "warn", "none"]),
  expected: z.string().optional(),
  observed: z.string(),
  /** JSON pointer into the body, or the name of a header, or `status`. */
  pointer: z.string().optional(),
  /** Exchange in which it was seen. */
  exchange: z.string().optional(),
  note: z.string().optional(),
});

export const attestationSchema = z.strictObject({
  state: z.string(),
  /** `observed`: the harness saw it come about. `hook`: the provisioning hook says so. `asserted`: the operator does. */
  by: z.enum(["observed", "hook", "asserted", "embedded"]),
});

/** A waiver of the gateway's team over one failing instance. */
export const waiverSchema = z.strictObject({
  /** Instance that it covers. */
  check: z.string(),
  reason: z.string(),
  owner: z.string(),
  /** Last day on which it holds, YYYY-MM-DD, UTC. */
  expires: z.string(),
  /** How the instance fails. */
  fingerprint: z.string(),
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
  /** Requirements that were broken. */
  violated: z.array(z.string()),
  /** One sentence that says what came out. */
  message: z.string(),
  findings: z.array(findingSchema),
  attestations: z.array(attestationSchema),
  /** Lines of the target file that would unblock it. */
  unblock: z.array(z.string()),
  /** Exchanges that the judge saw, in order. */
  exchanges: z.array(z.string()),
  durationMs: z.number(),
  /** An overlay: the failure is known and accepted until a day. The status stays what it is. */
  waived: waiverSchema.pick({ reason: true, owner: true, expires: true }).optional(),
  /** With `--repeat`: what came out each time. */
  rounds: z.array(z.strictObject({ status: z.enum(STATUSES), message: z.string() })).optional(),
});

export type Waiver = z.infer<typeof waiverSchema>;
export type Finding = z.infer<typeof findingSchema>;
export type CheckResult = z.infer<typeof checkResultSchema>;
export type Attestation = z.infer<typeof attestationSchema>;
