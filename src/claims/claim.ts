import * as z from "zod";
import { escapedJson } from "../core/index.ts";
import { profileResultSchema, runRecordSchema, waiverSchema } from "../record/index.ts";

/** Version of the claim. A reader of version n reads every claim up to n. */
export const CLAIM_VERSION = 1;

const sha256 = z.string().regex(/^[0-9a-f]{64}$/);

/** An exchange that shows a violation, or its control request. */
const claimedExchangeSchema = z.strictObject({
  id: z.string(),
  method: z.string(),
  url: z.string(),
  /** The beginning of the request body. */
  requestBody: z.string().optional(),
  /** The status, or how the exchange ended without one. */
  outcome: z.string(),
  /** The beginning of the response body, if it is text. */
  responseBody: z.string().optional(),
  /** A command that repeats it, if it fits into a line. */
  curl: z.string().optional(),
});

export const claimSchema = z
  .strictObject({
    schemaVersion: z.literal(CLAIM_VERSION),
    kind: z.literal("gauntlet-claim"),
    gateway: z.strictObject({
      name: z.string(),
      /** As the target file states it; `null`: not stated. */
      version: z.string().nullable(),
      startedWith: z.string().nullable(),
      /** How the gateway identified itself, such as a `Server` header. */
      server: z.string().nullable(),
    }),
    harness: runRecordSchema.shape.harness,
    requirementSet: runRecordSchema.shape.requirementSet,
    run: z.strictObject({
      id: z.string(),
      startedAt: z.iso.datetime(),
      endedAt: z.iso.datetime(),
      complete: z.boolean(),
      /** What the verdict of the run does not hide: declared gaps, dialects, contract. */
      qualifiers: z.array(z.string()),
    }),
    /** What the gateway expresses differently, as in the target file; `null`: nothing. */
    contract: z.unknown(),
    /** Header names and words with which responses were read. */
    reading: runRecordSchema.shape.target.shape.reading,
    /** Optional parts that the target file declares. */
    declared: z.array(z.string()),
    waivers: z.array(waiverSchema.omit({ magnitudes: true, place: true })),
    /** What keeps every profile of the claim from being conformant, whatever was measured. */
    limitations: z.array(z.string()),
    profiles: z.array(profileResultSchema),
    /** The exchanges that the results of the profiles name. */
    exchanges: z.array(claimedExchangeSchema),
    /** The record that the claim follows from. */
    record: z.strictObject({ sha256, files: z.array(z.strictObject({ name: z.string(), sha256 })) }),
    /** The command that repeats the run. */
    reproduce: z.string(),
  })
  .meta({
    title: "Gauntlet claim",
    description: "The profiles that one build of a gateway meets, as computed from the record of a run.",
  });

export type Claim = z.infer<typeof claimSchema>;
export type ClaimedExchange = z.infer<typeof claimedExchangeSchema>;

/** JSON Schema of a claim; published as `schemas/claim.schema.json`. */
export function claimJsonSchema(): Record<string, unknown> {
  return z.toJSONSchema(claimSchema, { reused: "ref" }) as Record<string, unknown>;
}

/** A claim as a file: always the same bytes for the same claim. */
export const claimText = (claim: Claim): string => `${escapedJson(claim, 1)}\n`;
