import { z } from "zod";

/** What the processes of the target held at one moment. */
const sampleSchema = z.strictObject({
  /** Seconds from the beginning of the run, as in the series of its phases; may be beyond its end. */
  atS: z.number(),
  /** Of one core, since the sample before: 2 is two cores. `null` for the first. */
  cpuShare: z.number().nullable(),
  memoryBytes: z.number(),
  openFiles: z.int(),
  threads: z.int(),
});

/** Whether the target gave back, kept or went on taking one resource. */
const leakSchema = z.strictObject({
  resource: z.enum(["memory", "open files", "threads"]),
  /** `null`: too few samples. */
  verdict: z.enum(["idle", "plateau", "growth", "recovered"]).nullable(),
  /** Just before the load, at most, and three seconds after it: bytes or a count. */
  first: z.number(),
  peak: z.number(),
  last: z.number(),
  /** Per minute, over the second half of the load, with its 95 % interval; `null` where there are too few samples. */
  perMinute: z.strictObject({ value: z.number(), low: z.number(), high: z.number() }).nullable(),
  message: z.string(),
});

/** The processes of the target during a run, where they were watched: a sample each second. */
export const watchedSchema = z.strictObject({
  pid: z.int().positive(),
  samples: z.array(sampleSchema),
  leaks: z.array(leakSchema),
});

export type WatchedSample = z.infer<typeof sampleSchema>;
export type Leak = z.infer<typeof leakSchema>;
