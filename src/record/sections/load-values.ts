import * as z from "zod";

export const count = z.int().nonnegative();
export const LOAD_DIALECTS = ["chat", "messages"] as const;
export const dialect = z.enum(LOAD_DIALECTS);

/** Quantiles of one histogram, milliseconds; `null` instead if nothing was recorded. */
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
/** Low and high end of the interval that contains the true value in 95 of 100 runs; `null`: too few samples. */
export const interval = ends.nullable();

const intervals = z.strictObject({ p50: interval, p90: interval, p95: interval, p99: interval, p999: interval });

const classQuantilesSchema = quantilesSchema.extend({
  intervals: intervals.optional(),
  /** The same for the steady part of the phase, unless that is all of it. */
  steady: quantilesSchema.extend({ intervals }).nullable().optional(),
});

/** Quantiles of a class, with the interval of each, milliseconds. Named, so that declarations do not spell it out each time. */
export interface ClassQuantiles extends z.infer<typeof classQuantilesSchema> {}

export const classQuantiles: z.ZodType<ClassQuantiles | null> = classQuantilesSchema.nullable();
