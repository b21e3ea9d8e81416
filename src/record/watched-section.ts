import { z } from "zod";

/** What the processes of the target held at one moment. */
const sampleSchema = z.strictObject({
  /** Seconds from the beginning of the run, as in the series of its phases; may be beyond its end. */
  atS: z.number(),
  /** Of one core, since the sample before: 2 is two cores. `null` for the first. */
  cpuShare: z.number().nullable(),
  memoryBytes: z.number(),
  /** `null` where they may not be counted: of processes that belong to somebody else. */
  openFiles: z.int().nullable(),
  threads: z.int(),
});

/** Whether the target gave back, kept or went on taking one resource. */
const leakSchema = z.strictObject({
  /** `memory`, `open files` or `threads` of processes; of metrics the series. */
  resource: z.string(),
  unit: z.enum(["bytes", "count"]),
  /** `null`: too few samples. */
  verdict: z.enum(["idle", "plateau", "growth", "recovered"]).nullable(),
  /** Just before the load, at most, and three seconds after it. */
  first: z.number(),
  peak: z.number(),
  last: z.number(),
  /** Per minute, over the second half of the load, with its 95 % interval; `null` where there are too few samples. */
  perMinute: z.strictObject({ value: z.number(), low: z.number(), high: z.number() }).nullable(),
  message: z.string(),
});

const processesSchema = z.strictObject({
  /** The first of them. */
  pid: z.int().positive(),
  /** Where a unit of systemd was watched: its name, and the folder of its control group. */
  unit: z.strictObject({ name: z.string(), cgroup: z.string() }).optional(),
  samples: z.array(sampleSchema),
  leaks: z.array(leakSchema),
});

const metricSchema = z.strictObject({
  name: z.string(),
  labels: z.record(z.string(), z.string()),
  kind: z.enum(["gauge", "counter"]),
  /** One for each moment of `atS`: of a gauge its value, of a counter its growth per second since the scrape before; `null`: none. */
  values: z.array(z.number().nullable()),
  /** How often a counter was lower than before, because its process had been started again; absent: never. */
  restarts: z.int().positive().optional(),
});

const metricsSchema = z.strictObject({
  /** Without its query. */
  url: z.string(),
  /** Seconds between two scrapes. */
  everyS: z.number(),
  /** Moments of the scrapes that were answered, seconds from the beginning of the run; may be beyond its end. */
  atS: z.array(z.number()),
  series: z.array(metricSchema),
  /** Of gauges that say what a process holds. */
  leaks: z.array(leakSchema),
  /** Series that were wanted and found no room, by name. */
  dropped: z.array(z.strictObject({ name: z.string(), series: z.int() })),
  scrapes: z.int(),
  failed: z.int(),
  firstFailure: z.strictObject({ atS: z.number(), message: z.string() }).optional(),
});

/** The target's side of a run, where it was watched, on the time axis of the run. */
export const watchedSchema = z.strictObject({
  processes: processesSchema.optional(),
  metrics: metricsSchema.optional(),
});

export type WatchedSample = z.infer<typeof sampleSchema>;
export type Leak = z.infer<typeof leakSchema>;
export type WatchedMetric = z.infer<typeof metricSchema>;
export type WatchedMetrics = z.infer<typeof metricsSchema>;
