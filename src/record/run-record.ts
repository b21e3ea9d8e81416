import * as z from "zod";
import { causeSchema } from "./cause.ts";
import { checkResultSchema, layer, waiverSchema } from "./check-result.ts";
import { comparisonSchema } from "./sections/comparison-section.ts";
import { loadSectionSchema } from "./sections/load-section.ts";
import { overheadSchema } from "./sections/overhead-section.ts";
import { policySectionSchema } from "./sections/policy-section.ts";
import { claimedSchema, profileResultSchema } from "./sections/profile-section.ts";
import { STATUSES } from "./status.ts";

/** Version of the run record. A reader of version n reads every record up to n. */
export const RECORD_VERSION = 1;

/** A requirement of the requirement set in use or of a custom suite, so that a record can be shown without the harness that created it. */
const requirementSchema = z.strictObject({
  id: z.string(),
  layer,
  level: z.enum(["MUST", "SHOULD", "MAY", "OPEN"]),
  binds: z.enum(["gateway", "client"]),
  area: z.string(),
  source: z.string(),
  text: z.string(),
});

/**
 * Kinds of reasons for a verdict: the cause of a failure, check instances without a cause, a waiver that covers nothing now, a
 * gate of the policy, a profile, what a comparison found, or how the run ended. `more` counts reasons that are not listed.
 */
const REASON_KINDS = ["cause", "checks", "waiver", "gate", "profile", "comparison", "run", "more"] as const;

const verdictSchema = z.strictObject({
  /** The one field that CI reads. */
  result: z.enum(["pass", "fail", "inconclusive", "error"]),
  exitCode: z.int(),
  /** The first line: result, target, qualifiers such as `partial` or a contract. */
  headline: z.string(),
  /** Why, each with the check that it refers to. */
  reasons: z.array(
    z.strictObject({
      kind: z.enum(REASON_KINDS),
      text: z.string(),
      check: z.string().optional(),
      /** Of `more`: how many reasons are not listed. */
      count: z.int().positive().optional(),
    }),
  ),
  /** What the result does not say: declared gaps, contract, waivers. */
  qualifiers: z.array(z.string()),
});

export const runRecordSchema = z
  .strictObject({
    schemaVersion: z.literal(RECORD_VERSION),
    runId: z.string(),
    /** Which command created it. */
    command: z.string(),
    /** What was given on the command line and decides what is run, without the target and the seed; absent: not recorded. */
    arguments: z.array(z.string()).optional(),
    startedAt: z.iso.datetime(),
    endedAt: z.iso.datetime(),
    durationMs: z.number(),
    /** false: the run ended early, and the record holds the results until then. */
    complete: z.boolean(),
    harness: z.strictObject({
      name: z.string(),
      version: z.string(),
      /** The commit that it was built from; absent: not known. */
      commit: z.string().optional(),
      /** Whether what was built differs from that commit. */
      dirty: z.boolean().optional(),
    }),
    requirementSet: z.strictObject({ version: z.string(), sha256: z.string() }),
    target: z.strictObject({
      name: z.string(),
      baseUrl: z.string(),
      /** All addresses, if it has several; the first is `baseUrl`. */
      addresses: z.array(z.string()).optional(),
      source: z.string(),
      /** Header names and pointers with which responses were read; a later judgement reads them the same way. */
      reading: z.strictObject({
        reasonHeader: z.string(),
        actionHeader: z.string(),
        reasonPointer: z.string().optional(),
        /** Denials in the gateway's own words, from the target's contract. */
        denials: z
          .array(
            z.strictObject({
              reason: z.string(),
              status: z.int(),
              words: z.array(z.string()).optional(),
              messages: z.array(z.union([z.string(), z.strictObject({ pattern: z.string() })])).optional(),
            }),
          )
          .optional(),
      }),
      /** How the gateway identified itself, if at all: a `Server` header or the like. */
      build: z.string().optional(),
    }),
    /** The target file as written (references, no keys) and its hash. */
    configuration: z.strictObject({ value: z.unknown(), sha256: z.string() }),
    environment: z.strictObject({
      node: z.string(),
      platform: z.string(),
      cpuModel: z.string(),
      cpus: z.int(),
      memoryBytes: z.number(),
    }),
    seed: z.int(),
    /** Present if profiles were chosen. */
    claimed: claimedSchema.optional(),
    /** Present if profiles were chosen: the result of each that exists. */
    profiles: z.array(profileResultSchema).optional(),
    /** Present if profiles were chosen: non-pass results that do not count, because no chosen profile requires them. */
    notDeciding: z.array(z.string()).optional(),
    verdict: verdictSchema,
    counts: z.record(z.enum(STATUSES), z.int()),
    requirements: z.array(requirementSchema),
    /** Requirements that the target is not judged by yet, because it pins an older requirement set. */
    unscored: z.array(z.string()).optional(),
    checks: z.array(checkResultSchema),
    /** Check instances that were not selected. Absent if the command does not run conformance checks. */
    notSelected: z.array(z.string()).optional(),
    /** The few deviations behind the failures and warnings, worst first. Waived results have none. */
    causes: z.array(causeSchema),
    /** The waivers that were applied to the results. */
    waivers: z.array(waiverSchema).optional(),
    /** How often each check was run. */
    rounds: z.int().optional(),
    /** What the run used up or created and could not restore. */
    leftovers: z.array(z.string()).optional(),
    traffic: z.strictObject({
      requests: z.int(),
      /** Output tokens, as far as they were counted or can be estimated. */
      outputTokens: z.number().optional(),
      /** HIST-2: an attempt that was rejected or lost may be missing from the gateway's history. */
      note: z.string(),
    }),
    /** Present when load was generated. */
    load: loadSectionSchema.optional(),
    /** Present when a policy was given. */
    policy: policySectionSchema.optional(),
    /** Present when the run was compared with another. */
    comparison: comparisonSchema.optional(),
    /** Present when the overhead of gateways was measured. */
    overhead: overheadSchema.optional(),
  })
  .meta({
    title: "Gauntlet run record",
    description: "All results of a run. Reports are generated from it.",
  });

export type RunRecord = z.infer<typeof runRecordSchema>;
export type RunVerdict = z.infer<typeof verdictSchema>;

/** JSON Schema of the record; published as `schemas/run.schema.json`. */
export function runRecordJsonSchema(): Record<string, unknown> {
  return z.toJSONSchema(runRecordSchema, { reused: "ref" }) as Record<string, unknown>;
}
