import { z } from "zod";

export const count = z.int().nonnegative();
export const LOAD_DIALECTS = ["chat", "messages"] as const;
export const dialect = z.enum(LOAD_DIALECTS);

/** Quantiles of one histogram, milliseconds; `null` in place of it: nothing was recorded. */
export const quantilesSchema = z.strictObject({
  p50: z.number(),
  p90: z.number(),
  p95: z.number(),
  p99: z.number(),
  p999: z.number(),
  max: z.number(),
});
export const quantiles = quantilesSchema.nullable();

const ends = z.tuple([z.number(), z.number()]);
/** Low and high end of the interval that holds the true value in 95 of 100 runs; `null`: the samples do not support one. */
export const interval = ends.nullable();

const intervals = z.strictObject({ p50: interval, p90: interval, p95: interval, p99: interval, p999: interval });

const classQuantilesSchema = quantilesSchema.extend({
  intervals: intervals.optional(),
  /** The same of the part of the phase that is steady, where that is not all of it. */
  steady: quantilesSchema.extend({ intervals }).nullable().optional(),
});

/** Quantiles of a class, with the interval of each, milliseconds. It has a name, so that declarations do not spell it out each time. */
export interface ClassQuantiles extends z.infer<typeof classQuantilesSchema> {}

export const classQuantiles: z.ZodType<ClassQuantiles | null> = classQuantilesSchema.nullable();
