import * as z from "zod";
import { GATE_LEVELS, type GateLevel } from "../record/index.ts";
import { parseThreshold, subjectOf, type Threshold } from "./threshold.ts";

const level = z.enum(GATE_LEVELS);

const threshold = z.string().superRefine((text, context) => {
  const read = parseThreshold(text);
  if (typeof read === "string") context.addIssue({ code: "custom", message: `"${text}" ${read}` });
});

const gate = z.union([
  threshold,
  z.strictObject({
    gate: threshold,
    level: level.default("error"),
    /** Why the gate exists; shown if it is not met. */
    why: z.string().optional(),
  }),
]);

const names = z.array(z.string().min(1));

/** Schema of a policy file; published as `schemas/policy.schema.json`. */
export const policySchema = z
  .strictObject({
    /** Suites that must have been judged completely, and requirements that must have been met. */
    require: z
      .strictObject({ suites: names.default([]), requirements: names.default([]), level: level.default("error") })
      .optional(),
    /** Severity of a miss in the compatibility layer. Without a policy it warns. */
    compat: level.default("warn"),
    /** Tiers and workloads that `run` sends in addition to the conformance suites. */
    load: names.default([]),
    gates: z.array(gate).default([]),
    /** File that `gauntlet baseline accept` writes, next to the policy file. */
    baseline: z.string().min(1).optional(),
  })
  .superRefine(({ gates }, context) => {
    const seen = new Map<string, number>();
    for (const [index, entry] of gates.entries()) {
      const read = parseThreshold(typeof entry === "string" ? entry : entry.gate);
      if (typeof read === "string") continue;
      const subject = subjectOf(read);
      const first = seen.get(subject);
      if (first === undefined) seen.set(subject, index);
      else {
        const message = `bounds the same figure in the same direction as gate ${first + 1} (${subject}); remove one of them`;
        context.addIssue({ code: "custom", message, path: ["gates", index] });
      }
    }
  });

export type PolicyFile = z.infer<typeof policySchema>;

export interface PolicyGate {
  readonly threshold: Threshold;
  readonly level: GateLevel;
  readonly why: string | undefined;
}

/** The thresholds of a file that the schema has accepted. */
export function gatesOf(file: PolicyFile): PolicyGate[] {
  return file.gates.flatMap((entry) => {
    const {
      gate: text,
      level: weight,
      why,
    } = typeof entry === "string" ? { gate: entry, level: "error" as const, why: undefined } : entry;
    const read = parseThreshold(text);
    return typeof read === "string" ? [] : [{ threshold: read, level: weight, why }];
  });
}

/** JSON Schema of a policy file. */
export function policyJsonSchema(): Record<string, unknown> {
  return z.toJSONSchema(policySchema, { io: "input" }) as Record<string, unknown>;
}
