import { z } from "zod";

export const GATE_LEVELS = ["error", "warn", "off"] as const;
export type GateLevel = (typeof GATE_LEVELS)[number];

const outcome = z.enum(["pass", "fail", "inconclusive", "off"]);

const gateSchema = z.strictObject({
  /** The gate as written, or what it requires. */
  gate: z.string(),
  kind: z.enum(["threshold", "suite", "requirement", "compat", "load"]),
  level: z.enum(GATE_LEVELS),
  outcome,
  /** One sentence that says what came out. */
  message: z.string(),
  /** What was held against the bound; `null` when there was no figure. */
  observed: z.number().nullable(),
  bound: z.number().nullable(),
  samples: z.int().nullable(),
  /** Which series decided, when several matched. */
  labels: z.record(z.string(), z.string()),
  /** What it was at first, when it was measured once more. */
  first: z.strictObject({ outcome, observed: z.number().nullable() }).optional(),
});

/** What a policy made of the run. */
export const policySectionSchema = z.strictObject({
  source: z.string(),
  sha256: z.string(),
  /** Whether failed performance gates were measured once more. */
  confirmed: z.boolean(),
  baseline: z
    .strictObject({
      source: z.string(),
      /** `other-machine`: it was accepted on another machine, and its figures say nothing here. */
      state: z.enum(["same", "other-machine", "missing"]),
      /** Run from which it was accepted. */
      runId: z.string().optional(),
      acceptedAt: z.string().optional(),
    })
    .nullable(),
  gates: z.array(gateSchema),
});

export type PolicySection = z.infer<typeof policySectionSchema>;
export type Gate = z.infer<typeof gateSchema>;
