import * as z from "zod";
import type { JsonValue } from "../core/index.ts";
import type { Status } from "./status.ts";

/** A value as JSON. */
const json = z.json() as unknown as z.ZodType<JsonValue>;

/** Classes of status codes that an expectation can name. */
export const STATUS_RANGES = ["2xx", "anything but 2xx", "4xx", "5xx", "anything but 5xx"] as const;

/** What was expected. */
export const expectedSchema = z.discriminatedUnion("kind", [
  z.strictObject({ kind: z.literal("value"), value: json }),
  z.strictObject({ kind: z.literal("one-of"), values: z.array(json) }),
  z.strictObject({ kind: z.literal("absent") }),
  z.strictObject({ kind: z.literal("status"), range: z.enum(STATUS_RANGES) }),
  /** A complete reply without an error. */
  z.strictObject({ kind: z.literal("reply") }),
  z.strictObject({ kind: z.literal("at-least"), bound: z.number() }),
  z.strictObject({ kind: z.literal("at-most"), bound: z.number() }),
  /** A condition that no value expresses, in words: `a non-empty string`. */
  z.strictObject({ kind: z.literal("condition"), text: z.string() }),
]);

/** What was observed. */
export const observedSchema = z.discriminatedUnion("kind", [
  z.strictObject({ kind: z.literal("absent") }),
  z.strictObject({ kind: z.literal("value"), value: json }),
  /** The beginning of a value that is too long to keep, as JSON. */
  z.strictObject({ kind: z.literal("excerpt"), text: z.string(), characters: z.int() }),
  /** Several facts at once, in words: `3 of 40 denied`. */
  z.strictObject({ kind: z.literal("facts"), text: z.string() }),
]);

/** A response in short. */
export const responseFactsSchema = z.strictObject({
  /** Absent: no response. */
  status: z.int().optional(),
  /** The reason as the gateway names it. */
  reason: z.string().optional(),
  /** The specification's reason to which the target's contract maps it; `null`: none. */
  readAs: z.string().nullable().optional(),
  /** How it ended, if not completely: `reset`, `deadline`, `protocol-error`, … */
  ending: z.strictObject({ kind: z.string(), detail: z.string().optional() }).optional(),
  /** A stream that began with 2xx and held an error instead of output. */
  isRefusedLate: z.literal(true).optional(),
});

/** How a broken expectation differed. The values are in `expected` and `observed`. */
export const deviationSchema = z.discriminatedUnion("kind", [
  /** The response was not HTTP. */
  z.strictObject({ kind: z.literal("malformed"), detail: z.string() }),
  z.strictObject({ kind: z.literal("no-response"), how: z.string() }),
  /** A response that started and did not complete. */
  z.strictObject({ kind: z.literal("incomplete"), how: z.string() }),
  /** A stream that was refused after its status had been sent. */
  z.strictObject({ kind: z.literal("refused-late") }),
  /** Served although it had to be denied. */
  z.strictObject({ kind: z.literal("served") }),
  /** A status other than expected, and not 2xx. */
  z.strictObject({ kind: z.literal("status") }),
  /** The named reason of a denial. */
  z.strictObject({ kind: z.literal("reason") }),
  z.strictObject({ kind: z.literal("header"), name: z.string() }),
  /** A member of the body or of an event. */
  z.strictObject({ kind: z.literal("field"), pointer: z.string() }),
  /** A count, a share or a time beyond its bound. */
  z.strictObject({ kind: z.literal("bound") }),
  /** What the check itself says must hold. */
  z.strictObject({ kind: z.literal("content") }),
]);

/** Why nothing could be decided. */
export const undecidedSchema = z.discriminatedUnion("kind", [
  /** Keys, models and accounts that the target file does not name, or that are not in the state it claims. */
  z.strictObject({
    kind: z.literal("missing-preconditions"),
    missing: z.array(z.strictObject({ name: z.string(), why: z.string().optional() })),
  }),
  /** A gap that the target file declares. */
  z.strictObject({ kind: z.literal("declared-gap"), about: z.string(), why: z.string() }),
  /** Behaviour of the gateway that makes the check meaningless. */
  z.strictObject({ kind: z.literal("precondition-not-met"), text: z.string() }),
  z.strictObject({ kind: z.literal("control-not-served"), what: z.string(), response: responseFactsSchema }),
  z.strictObject({ kind: z.literal("gateway-stopped"), after: z.string().optional() }),
  /** A model was not served for a while. */
  z.strictObject({ kind: z.literal("outage"), text: z.string() }),
  /** The budget has no room for the check. */
  z.strictObject({ kind: z.literal("over-budget"), needs: z.string() }),
  /** The run ended before this check. */
  z.strictObject({ kind: z.literal("not-reached") }),
  /** No request of the run could be judged. */
  z.strictObject({ kind: z.literal("nothing-to-judge") }),
  z.strictObject({ kind: z.literal("no-response"), how: z.string() }),
  z.strictObject({ kind: z.literal("size-bound"), detail: z.string().optional() }),
  z.strictObject({ kind: z.literal("generator-late"), lagMs: z.number(), boundMs: z.number() }),
  /** The load generator was not on time: nothing that depends on timing is decided. `problems` name what exceeded its bound. */
  z.strictObject({ kind: z.literal("machine-busy"), problems: z.array(z.string()) }),
  /** A mistake in a custom suite. `place`: `own-suite.ts:14:8`, if it is known. */
  z.strictObject({ kind: z.literal("suite-error"), place: z.string().optional(), text: z.string() }),
  /** What prevented the judge from deciding, in words. */
  z.strictObject({ kind: z.literal("open"), text: z.string() }),
]);

const findingShape = z.strictObject({
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
  expected: expectedSchema.optional(),
  observed: observedSchema,
  /** Set if it is broken. */
  deviation: deviationSchema.optional(),
  /** Set if it is undecided. */
  reason: undecidedSchema.optional(),
  /** The response that was judged; not set if the finding was met. */
  response: responseFactsSchema.optional(),
  /** `status`, `ending`, `reason`, `action`, a header name, or a JSON pointer into the body. */
  pointer: z.string().optional(),
  /** Exchanges in which it was seen, if they were kept. */
  exchanges: z.array(z.string()),
  /** Exchange id of the control request: the same request with nothing wrong, which was served. */
  control: z.string().optional(),
  /** What was compared, if neither the requirement nor the pointer says it. */
  subject: z.string().optional(),
  /**
   * How often the same expectation was met at the same place; absent: once. The observed value, the exchange and the subject are
   * those of the first time. Findings that were not met are never merged.
   */
  count: z.int().min(2).optional(),
  /**
   * How far an expectation was missed, in a measure that grows with the failure: a share, or a multiple of the bound. Absent if
   * there is no such measure.
   */
  magnitude: z.number().nonnegative().optional(),
});

export type Expected = z.infer<typeof expectedSchema>;
export type Observed = z.infer<typeof observedSchema>;
export type ResponseFacts = z.infer<typeof responseFactsSchema>;
export type Deviation = z.infer<typeof deviationSchema>;
export type UndecidedReason = z.infer<typeof undecidedSchema>;
/** One comparison of expected and observed. */
export interface Finding extends z.infer<typeof findingShape> {}
/** Named, so that the types of the record do not repeat its members wherever a finding is. */
export const findingSchema: z.ZodType<Finding> = findingShape;

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
