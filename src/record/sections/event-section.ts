import * as z from "zod";
import { count } from "./load-values.ts";

/** How an action was executed. Times are seconds from the start of the run. */
const executionSchema = z.strictObject({
  /** In a few words: `run ./restart.sh`. */
  action: z.string(),
  startedS: z.number(),
  endedS: z.number(),
  succeeded: z.boolean(),
  /** `exit code 0`, `status 204`, `timed out after 60 s`. */
  result: z.string(),
  /** Exit code of a command; `null` if it was killed, or if the action is not a command. */
  exitCode: z.int().nullable(),
  /** The beginning of what it printed, or of the response body; secrets are masked. */
  output: z.string(),
  /** Length of all output, bytes. */
  outputBytes: count,
});

const requestKind = z.strictObject({
  /** The reason of a denial, the kind of failure, or the defect of an invalid reply; `served` for the others. */
  what: z.string(),
  outcome: z.enum(["served", "retryable", "failed"]),
  /** Of a failed request: whether a status or an error event says so, a 2xx reply is unusable, or no response was complete. */
  failure: z.enum(["stated", "invalid", "incomplete"]).optional(),
  stream: z.boolean(),
  count,
});

const latency = z.number().nullable();

/** What clients noticed of an event. */
const eventFiguresSchema = z.strictObject({
  /** Time after the event in which requests were counted, s. */
  windowS: z.number(),
  /** Requests that were due in the window or in flight at the event: the sum of `served`, `retryable` and `failed`. */
  requests: count,
  served: count,
  /** Denied with a retryable status and a usable Retry-After. */
  retryable: count,
  failed: count,
  kinds: z.array(requestKind),
  /** The longest response time of the requests that were due in the window, whatever their outcome, ms. */
  longestMs: z.number(),
  /** Streams of the window. */
  streams: z.strictObject({
    count,
    /** Ended with an error event. */
    interrupted: count,
    /** Stopped before their final event and without an error event. */
    truncated: count,
    /** Those that were in flight when the event began. */
    inFlight: z.strictObject({ count, finished: count, interrupted: count, truncated: count, other: count }),
  }),
  /** Seconds before the first event; `null` if there were too few. */
  before: z.strictObject({ seconds: count, servedShare: z.number(), p50Ms: latency, p95Ms: latency }).nullable(),
  /**
   * Requests admitted since the event, and in the time before the first event in which the account was at its limit; both in whole
   * minutes, because limits may be counted in fixed ones.
   */
  limit: z
    .strictObject({
      /** Denied by a limit before the first event. */
      deniedBefore: count,
      /** Whole seconds from the first of these denials to the first event. */
      limitedS: count,
      /** The part of `limitedS` in which requests were counted, s; 0 if it is less than a minute. */
      beforeS: count,
      admittedBefore: count,
      /** Time since the event that was measured, s; 0 if less than a minute was left of the load. */
      windowS: count,
      sent: count,
      admitted: count,
      /** Neither admitted nor denied for certain: unusable, truncated, or without a complete response. */
      unclear: count,
    })
    .optional(),
  /** Seconds from the event until outcomes and latency had recovered; `null`: not before the end, or not known. */
  recoveredS: z.number().nullable(),
  /** Whole seconds after the event that could show it. */
  observedS: count,
  /** By the second after the event in which requests were due. */
  seconds: z.array(
    z.strictObject({
      second: z.int(),
      due: count,
      served: count,
      retryable: count,
      failed: count,
      p50Ms: latency,
      p95Ms: latency,
    }),
  ),
});

/** Something that was done to the gateway during a load. */
export const loadEventSchema = z.strictObject({
  name: z.string(),
  /** Planned time, seconds from the start of the run. */
  atS: z.number(),
  /** Planned time until it is undone, s. */
  durationS: z.number().optional(),
  /** `null`: the load ended before it. */
  execution: executionSchema.nullable(),
  /** How it was undone; absent: nothing had to be. */
  undo: executionSchema.optional(),
  /** `null`: the load ended before it. */
  figures: eventFiguresSchema.nullable(),
});

/** Streams that were sent at once after the load, as many as the account may have in flight. */
export const afterLoadSchema = z.strictObject({
  /** The account's limit on requests in flight. */
  limit: count,
  sent: count,
  /** With a complete and usable reply. */
  admitted: count,
  /** By the concurrency limit. */
  denied: count,
  /** How many of the admitted ones were provably in flight at the same time. */
  atOnce: count,
  /** Neither admitted nor denied by the concurrency limit. */
  others: z.array(z.strictObject({ what: z.string(), count })),
});

export type LoadEvent = z.infer<typeof loadEventSchema>;
export type EventExecution = z.infer<typeof executionSchema>;
export type EventFigures = z.infer<typeof eventFiguresSchema>;
