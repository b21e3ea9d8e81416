import * as z from "zod";
import { findingSchema, undecidedSchema } from "./finding.ts";
import { STATUSES } from "./status.ts";

/** Of requirements; `custom`: declared by a custom suite. */
export const LAYERS = ["specification", "protocol", "compat", "custom"] as const;
export const layer = z.enum(LAYERS);

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
  /** Set if nothing could be decided: why. */
  reason: undecidedSchema.optional(),
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
export type CheckResult = z.infer<typeof checkResultSchema>;
export type Attestation = z.infer<typeof attestationSchema>;

/** Whether a check was blocked because the target file lacks a key, model or account that it needs. */
export function lacksFixture({ status, reason }: Pick<CheckResult, "status" | "reason">): boolean {
  if (status !== "blocked" || reason?.kind !== "missing-preconditions") return false;
  return reason.missing.every(({ why }) => why === undefined);
}
