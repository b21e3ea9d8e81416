import * as z from "zod";
import { LOAD_OUTCOMES } from "./load-section.ts";

/**
 * A difference and its 95 % interval, milliseconds with the resolution of a microsecond; `null` if too few requests were
 * served.
 */
const differenceSchema = z.strictObject({
  value: z.number().nullable(),
  low: z.number().nullable(),
  high: z.number().nullable(),
});

/** Differences between the quantiles of requests through the gateway and those sent directly to the upstream. */
const addedSchema = z.strictObject({ p50: differenceSchema, p90: differenceSchema, p99: differenceSchema });

const quantilesSchema = z.strictObject({
  p50: z.number().nullable(),
  p90: z.number().nullable(),
  p99: z.number().nullable(),
});

/** One number of clients, one kind of request. */
const levelSchema = z.strictObject({
  /** Clients, each with one request in flight at a time. */
  concurrency: z.int(),
  stream: z.boolean(),
  promptBytes: z.int(),
  /** Measured requests of this arm, and how many of them were not served. */
  requests: z.int(),
  errors: z.int(),
  /** Responses to the requests that were not served, most frequent first. */
  errorKinds: z.array(
    z.strictObject({
      outcome: z.enum(LOAD_OUTCOMES),
      what: z.string(),
      count: z.int(),
    }),
  ),
  /** Complete responses; for streams to their last byte. */
  addedMs: addedSchema,
  /** First token of a stream; `null` for non-streaming requests. */
  addedTtftMs: addedSchema.nullable(),
  /** Gaps between the tokens of a stream; `null` if there are none. */
  addedGapMs: addedSchema.nullable(),
  /** The latencies that the differences are computed from. */
  directMs: quantilesSchema,
  throughMs: quantilesSchema,
  /** Median time to the first token of a stream; `null` for non-streaming requests. */
  ttftMs: z.strictObject({ direct: z.number().nullable(), through: z.number().nullable() }).nullable(),
  /** Mean number of events per socket read. */
  eventsPerRead: z.strictObject({ direct: z.number(), through: z.number() }).nullable(),
  /** Requests per second of this arm while it was measured. */
  requestsPerS: z.number(),
  /** Requests per second of this arm if each client sends again immediately. */
  peakPerS: z.number(),
  /**
   * Requests per second to which the clients of all arms were limited, because clients that send again immediately wait in
   * queues.
   */
  heldAtPerS: z.number().nullable(),
  /** Maximum requests of this kind per second that the upstream served directly. */
  ceilingPerS: z.number(),
  /** The upstream is the limit at this number of clients: the arm reaches at least 90 % of its direct rate. */
  upstreamBound: z.boolean(),
});

/** Added latency of small non-streaming requests against load. */
const frontierSchema = z.strictObject({
  points: z.array(
    z.strictObject({
      offeredPerS: z.number(),
      servedPerS: z.number(),
      addedMs: addedSchema,
      upstreamBound: z.boolean(),
    }),
  ),
  /** The highest rate that was measured before the added p99 exceeded a bound; `isPassed` is false if it never did. */
  bounds: z.array(
    z.strictObject({
      addedP99Ms: z.number(),
      requestsPerS: z.number().nullable(),
      isPassed: z.boolean(),
      upstreamBound: z.boolean(),
    }),
  ),
});

const armSchema = z.strictObject({
  name: z.string(),
  /** Version of the gateway, as its target file states it. */
  version: z.string().optional(),
  levels: z.array(levelSchema),
  /** Absent if the measurement was interrupted before it, and for the control. */
  frontier: frontierSchema.optional(),
  /** Conclusions from the figures other than latency, in sentences. */
  diagnoses: z.array(z.string()).optional(),
  /** Resources used by the gateway's processes from the first request to the last, if their pid is known. */
  process: z.strictObject({ cpuS: z.number(), peakMemoryBytes: z.number(), peakOpenFiles: z.int() }).optional(),
});

/** Latency that gateways add to their upstream. */
export const overheadSchema = z.strictObject({
  /** Maximum small non-streaming requests per second that the upstream served directly. */
  ceilingPerS: z.number(),
  /** The upstream: its name with its address. */
  direct: z.string(),
  rounds: z.int(),
  /** The command line that repeats it, without the seed. */
  arguments: z.array(z.string()),
  arms: z.array(armSchema),
  /** The upstream directly against itself, in the same rounds. */
  control: armSchema.extend({ fit: z.boolean(), message: z.string() }),
});

export type Overhead = z.infer<typeof overheadSchema>;
export type OverheadLevel = z.infer<typeof levelSchema>;
export type Frontier = z.infer<typeof frontierSchema>;
export type Added = z.infer<typeof addedSchema>;
export type AddedDifference = z.infer<typeof differenceSchema>;
