import { z } from "zod";

/** One deviation behind the findings of many results. */
export const causeSchema = z.strictObject({
  /** What came out, against what was expected, in one sentence. */
  title: z.string(),
  /** Requirement that it breaks first; its sentence stands among the requirements of the record. */
  requirement: z.string(),
  /** Everything that it breaks. */
  requirements: z.array(z.string()),
  /** What the worst of its findings is worth. */
  weight: z.enum(["fail", "warn"]),
  /** Results that it explains, in the order of the record. A result with two deviations has two causes. */
  checks: z.array(z.string()),
  /** An exchange in which it was seen, where one was kept. */
  exchange: z.string().optional(),
  /** What to do about it. */
  advice: z.string(),
});

export type Cause = z.infer<typeof causeSchema>;

/** Ids of the results that some causes explain. */
export function explainedBy(causes: readonly Cause[]): ReadonlySet<string> {
  return new Set(causes.flatMap(({ checks }) => checks));
}
