import * as z from "zod";

/** One deviation behind the findings of many results. */
export const causeSchema = z.strictObject({
  /** Observed and expected, in one sentence. */
  title: z.string(),
  /** The main requirement that it violates; the requirements of the record hold its text. */
  requirement: z.string(),
  /** Everything that it violates. */
  requirements: z.array(z.string()),
  /** The severity of its worst finding. */
  weight: z.enum(["fail", "warn"]),
  /** Results that it explains, in the order of the record. A result with two deviations has two causes. */
  checks: z.array(z.string()),
  /** An exchange in which it was seen, if one was kept. */
  exchange: z.string().optional(),
  /** How to fix it. */
  advice: z.string(),
});

export type Cause = z.infer<typeof causeSchema>;

/** Ids of the results that these causes explain. */
export function explainedBy(causes: readonly Cause[]): ReadonlySet<string> {
  return new Set(causes.flatMap(({ checks }) => checks));
}
