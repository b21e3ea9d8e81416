import { z } from "zod";

export const count = z.int().nonnegative();
export const dialect = z.enum(["chat", "messages"]);

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
