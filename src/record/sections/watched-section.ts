import * as z from "zod";

/** Resources that the processes of the target held at one time. */
const sampleSchema = z.strictObject({
  /** Seconds from the start of the run, as in the series of its phases; may be after its end. */
  atS: z.number(),
  /** Of one core, since the previous sample: 2 is two cores. `null` for the first, and if a process ended or was replaced since then. */
  cpuShare: z.number().nullable(),
  memoryBytes: z.number(),
  /** `null` if they may not be counted, because the processes belong to another user. */
  openFiles: z.int().nullable(),
  threads: z.int(),
});

/** Whether the target released, kept or continued to acquire one resource. */
const leakSchema = z.strictObject({
  /** `memory`, `open files` or `threads` of processes; the series for metrics. */
  resource: z.string(),
  unit: z.enum(["bytes", "count"]),
  /** `null`: too few samples. */
  verdict: z.enum(["idle", "plateau", "growth", "recovered"]).nullable(),
  /** Just before the load, the maximum, and three seconds after the load. */
  first: z.number(),
  peak: z.number(),
  last: z.number(),
  /** Per minute, over the second half of the load, with its 95 % interval; `null` if there are too few samples. */
  perMinute: z.strictObject({ value: z.number(), low: z.number(), high: z.number() }).nullable(),
  message: z.string(),
});

const processesSchema = z.strictObject({
  /** The first of them. */
  pid: z.int().positive(),
  /** If a systemd unit was monitored: its name, and the folder of its control group. */
  unit: z.strictObject({ name: z.string(), cgroup: z.string() }).optional(),
  samples: z.array(sampleSchema),
  leaks: z.array(leakSchema),
});

const logsSchema = z.strictObject({
  /** As in the target file. */
  files: z.array(z.string()),
  samples: z.array(
    z.strictObject({
      /** Seconds from the start of the run. */
      atS: z.number(),
      /** Written to all of them since the previous sample; `null` for the first, and if one was replaced or truncated since then. */
      bytes: z.int().nullable(),
    }),
  ),
});

const metricSchema = z.strictObject({
  name: z.string(),
  labels: z.record(z.string(), z.string()),
  kind: z.enum(["gauge", "counter"]),
  /**
   * One for each time in `atS`: the value of a gauge, the growth of a counter per second since the previous scrape; `null`:
   * none.
   */
  values: z.array(z.number().nullable()),
  /** How often a counter was lower than before, because its process was restarted; absent: never. */
  restarts: z.int().positive().optional(),
});

const metricsSchema = z.strictObject({
  /** Without the query. */
  url: z.string(),
  /** Seconds between two scrapes. */
  everyS: z.number(),
  /** Times of the successful scrapes, seconds from the start of the run; may be after its end. */
  atS: z.array(z.number()),
  series: z.array(metricSchema),
  /** Of gauges for resources that a process holds. */
  leaks: z.array(leakSchema),
  /** Selected series that exceeded the limit, by name. */
  dropped: z.array(z.strictObject({ name: z.string(), series: z.int() })),
  scrapes: z.int(),
  failed: z.int(),
  firstFailure: z.strictObject({ atS: z.number(), message: z.string() }).optional(),
});

/** The target's side of a run, if it was monitored, on the time axis of the run. */
export const watchedSchema = z.strictObject({
  processes: processesSchema.optional(),
  logs: logsSchema.optional(),
  metrics: metricsSchema.optional(),
});

export type WatchedSample = z.infer<typeof sampleSchema>;
export type Leak = z.infer<typeof leakSchema>;
export type WatchedMetric = z.infer<typeof metricSchema>;
export type WatchedMetrics = z.infer<typeof metricsSchema>;
