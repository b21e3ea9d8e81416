import * as z from "zod";

export const GATE_LEVELS = ["error", "warn", "off"] as const;
export type GateLevel = (typeof GATE_LEVELS)[number];

const outcome = z.enum(["pass", "fail", "inconclusive", "off"]);

const gateSchema = z.strictObject({
  /** The gate as written, or its requirement. */
  gate: z.string(),
  kind: z.enum(["threshold", "suite", "requirement", "compat", "load"]),
  level: z.enum(GATE_LEVELS),
  outcome,
  /** The result in one sentence. */
  message: z.string(),
  /** The figure compared with the bound; `null` if there was none. */
  observed: z.number().nullable(),
  bound: z.number().nullable(),
  samples: z.int().nullable(),
  /** Which series decided, if several matched. */
  labels: z.record(z.string(), z.string()),
  /** The first result, if it was measured again. */
  first: z.strictObject({ outcome, observed: z.number().nullable() }).optional(),
});

/** The result of applying a policy to the run. */
export const policySectionSchema = z.strictObject({
  source: z.string(),
  sha256: z.string(),
  /** Whether failed performance gates were measured again. */
  confirmed: z.boolean(),
  baseline: z
    .strictObject({
      source: z.string(),
      /** `other-machine`: it was accepted on another machine, so its figures say nothing here. */
      state: z.enum(["same", "other-machine", "missing"]),
      /** The run from which it was accepted. */
      runId: z.string().optional(),
      acceptedAt: z.string().optional(),
    })
    .nullable(),
  gates: z.array(gateSchema),
});

export type PolicySection = z.infer<typeof policySectionSchema>;
export type Gate = z.infer<typeof gateSchema>;
