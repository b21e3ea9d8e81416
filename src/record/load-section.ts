import { z } from "zod";
import { checkResultSchema, findingSchema } from "./check-result.ts";
import { classQuantiles, count, dialect, interval, quantiles, quantilesSchema } from "./load-values.ts";
import { retryAfterSchema } from "./retry-after-section.ts";
import { watchedSchema } from "./watched-section.ts";

/** What a request came to. One class, one outcome, one histogram: these are never mixed. */
export const LOAD_OUTCOMES = ["admitted", "denied", "failed", "invalid", "unfinished"] as const;

/** All requests of one dialect and mode that came to the same. */
const classSchema = z.strictObject({
  dialect,
  stream: z.boolean(),
  /** `invalid`: a complete 2xx reply that no client could use. `unfinished`: a stream that was admitted and then cut off. */
  outcome: z.enum(LOAD_OUTCOMES),
  count,
  /** From the due moment to the end. */
  responseMs: classQuantiles,
  /** From the send to the end. */
  serviceMs: classQuantiles,
  /** From the send to the first output of any kind: text, reasoning, a tool call. Streams only. */
  ttftMs: classQuantiles,
  /** From the send to the first token of the reply text, of streams that have other output as well. */
  textTtftMs: classQuantiles,
  /** Every gap between consecutive events with output. Streams only. */
  eventGapMs: classQuantiles,
  /** Inter-token latency: the gaps between events, divided by the tokens per event. Only streams that state their number of tokens. */
  itlMs: classQuantiles,
  /** From the send: connection ready, head, first byte of the body, first whole event. */
  connectMs: classQuantiles,
  headersMs: classQuantiles,
  firstByteMs: classQuantiles,
  firstEventMs: classQuantiles,
  /** Longest gap of each stream. */
  longestStallMs: classQuantiles,
  /** Time per output token after the first. */
  perTokenMs: classQuantiles,
  /** Mean events per network read: far above 1 behind a buffering proxy. */
  eventsPerRead: z.number().nullable(),
  /** From `usage`, or counted events where there is none. */
  outputTokens: count,
});

const secondQuantiles = z.strictObject({ p50: z.number(), p95: z.number(), p99: z.number() }).nullable();

/** One second of a phase. */
const secondSchema = z.strictObject({
  /** Seconds from the beginning of the run. */
  atS: z.number(),
  offered: count,
  sent: count,
  admitted: count,
  denied: count,
  failed: count,
  invalid: count,
  dropped: count,
  /** Most at once within the second. */
  inFlight: count,
  /** Of the requests that ended in it and were admitted. */
  responseMs: secondQuantiles,
  ttftMs: secondQuantiles,
});

/** Durations of admitted requests over time, counted by their size. */
const heatSchema = z.strictObject({
  /** Width of a column, s. */
  everyS: z.number().positive(),
  /**
   * From the beginning of the phase, one text per column: `ROW:COUNT` with a blank between; row r holds durations from
   * 10^(r/10) up to 10^((r+1)/10) microseconds.
   */
  columns: z.array(z.string().regex(/^(?:\d{1,3}:\d{1,12}(?: |$))*$/)),
});

/** Requests that met every objective of a workload at once. */
const goodputSchema = z.strictObject({
  /** Admitted requests that met each of them by itself; one that a reply cannot have is met. */
  objectives: z.array(z.strictObject({ text: z.string(), met: count })),
  requests: count,
  /** Per second of the phase. */
  requestsPerS: z.number(),
  /** Of the arrivals, dropped ones too; `null` where there were none. */
  share: z.number().nullable(),
  /** Output tokens of these requests; `null` where a reply did not say how many it has. */
  tokens: count.nullable(),
  tokensPerS: z.number().nullable(),
  /** 95 %; `null`: the phase was too short, or there were no arrivals. */
  intervals: z.strictObject({ requestsPerS: interval, share: interval }),
});

/** Conversations of several turns. */
export const sessionsSchema = z.strictObject({
  /** The warm-up's too. */
  started: count,
  /** Every turn of them was admitted. */
  completed: count,
  turns: z.array(
    z.strictObject({
      /** From 1; the tenth stands for all later ones too. */
      turn: count,
      requests: count,
      admitted: count,
      denied: count,
      failed: count,
      invalid: count,
      /** Of head and body: the context grows. */
      meanRequestBytes: z.number(),
      /** Of admitted requests, from due: the end of the answer before, and the think time. */
      responseMs: quantiles,
      ttftMs: quantiles,
    }),
  ),
});

const loadVerdict = z.enum(["pass", "warn", "fail", "inconclusive", "not-applicable"]);

/** One phase of a run. */
export const loadPhaseSchema = z.strictObject({
  /** `at-concurrency-limit`, `at-rate-limit`, `over-rate-limit`, `recovery`; for a workload file its name. */
  name: z.string(),
  title: z.string(),
  /** Seconds from the beginning of the run. */
  startS: z.number(),
  durationS: z.number(),
  offered: count,
  sent: count,
  admitted: count,
  denied: count,
  failed: count,
  /** Complete 2xx replies that no client could use. */
  invalid: count,
  /** Arrivals that could not be sent because a bound of ours was reached. */
  dropped: count,
  /** Per second of the phase. */
  rates: z.strictObject({
    offered: z.number(),
    sent: z.number(),
    admitted: z.number(),
    denied: z.number(),
    failed: z.number(),
    invalid: z.number(),
    intervals: z
      .strictObject({
        offered: interval,
        sent: interval,
        admitted: interval,
        denied: interval,
        failed: interval,
        invalid: interval,
      })
      .optional(),
  }),
  /** Of the requests that were sent and came to something. */
  shares: z
    .strictObject({
      admitted: z.number(),
      denied: z.number(),
      failed: z.number(),
      invalid: z.number(),
      intervals: z.strictObject({ admitted: interval, denied: interval, failed: interval, invalid: interval }),
    })
    .optional(),
  /** Where the phase is steady, seconds from the beginning of the run; `null` where it is not. */
  steady: z
    .strictObject({
      fromS: z.number().nullable(),
      toS: z.number().nullable(),
      /**
       * `drift`: the rate or the latency moves until the end; `growth`: more is sent than is answered; `saw-tooth`: it goes up and
       * down with a period; `too-short`: fewer than ten seconds have a response.
       */
      kind: z.enum(["steady", "drift", "growth", "saw-tooth", "too-short"]),
    })
    .optional(),
  /** Where the workload names objectives. */
  goodput: goodputSchema.optional(),
  /** Where the arrivals of the workload are sessions. */
  sessions: sessionsSchema.optional(),
  peakInFlight: count,
  connections: count,
  classes: z.array(classSchema),
  series: z.array(secondSchema),
  /** Response times by the moment of the end, times to first token by the moment of the token. */
  heat: z.strictObject({ response: heatSchema, ttft: heatSchema.optional() }).optional(),
  denials: z.array(z.strictObject({ reason: z.string(), dialect, stream: z.boolean(), count })),
  /** What was wrong with the invalid replies: `HTML page`, `empty text`, … */
  invalidReplies: z.array(z.strictObject({ what: z.string(), count, exchange: z.string().optional() })),
  /** Fields with output that no known client reads, and the number of streams that have them. */
  unknownFields: z.array(z.strictObject({ name: z.string(), streams: count })),
  /** How requests failed: `500`, `reset`, `deadline`, `cut stream`, … */
  failures: z.array(z.strictObject({ what: z.string(), count, exchange: z.string().optional() })),
  /** Exchanges that were kept and judged. */
  sampled: count,
});

/** A phase with what was found in it, as the journal notes it. In the record the findings stand among the checks. */
export const judgedPhaseSchema = loadPhaseSchema.extend({
  verdict: loadVerdict,
  /** One sentence that says what came out. */
  message: z.string(),
  findings: z.array(findingSchema),
  /** Invariants of the suites, over sampled exchanges of the phase. */
  invariants: z.array(checkResultSchema),
});

export const generatorSchema = z.strictObject({
  valid: z.boolean(),
  /** Bounds that were broken, in words; empty when valid. */
  problems: z.array(z.string()),
  /** Send time minus due time. */
  scheduleLagMs: quantilesSchema,
  /** Delay of the event loop beyond its sampling interval; `null` for an engine without one. */
  loopDelayMs: quantiles,
  /** Share of the time in which the event loop was at work; absent for an engine without one. */
  loopBusyShare: z.number().optional(),
  /** Of the whole process, during the run. */
  cpuS: z.number(),
  /** Share of one core, and of the machine without us. */
  cpuShare: z.number(),
  peakRssBytes: z.number(),
  /** Requests that had to wait for a connection. */
  connectionWaits: count,
  workers: count,
  /** Short run against the built-in stamped server just before: what this machine adds. */
  calibration: z
    .strictObject({
      deliveryLagMs: quantilesSchema,
      scheduleLagMs: quantilesSchema,
      ttftErrorMs: quantilesSchema,
      ratePerS: z.number(),
      streams: count,
    })
    .nullable(),
});

/** One generator of several, for engines that run more than one. */
const instanceSchema = z.strictObject({
  name: z.string(),
  /** Its share of the schedule, `0:1/3`; empty when unknown. */
  segment: z.string(),
  requests: count,
  /** It came to the end of its share. */
  complete: z.boolean(),
  /** How it ended, in words. */
  ended: z.string(),
  /** The gateway's clock minus its own, from `Date` headers; `null` when it is unknown or is the same clock. */
  clockOffsetMs: z.number().nullable(),
  /** The offset is right to this much, either way. */
  clockUncertaintyMs: z.number().nullable(),
  /** How long after the common beginning it began; absent where there is none. */
  lateMs: z.number().nonnegative().optional(),
  /** Why its generator was not valid, in words; absent where that is not told of each. */
  problems: z.array(z.string()).optional(),
});

const loadRunSchema = z.strictObject({
  /** `starter`, `growth`, `scale`, or the name of a workload. */
  name: z.string(),
  kind: z.enum(["tier", "workload"]),
  /** Of a tier run: `quick` leaves out overload and recovery, `brief` the longest waits. */
  length: z.enum(["thorough", "brief", "quick"]).optional(),
  engine: z.enum(["native", "autocannon", "k6"]),
  /** What the native engine spoke; absent where nothing was agreed on, and for the others. */
  protocol: z.enum(["HTTP/1.1", "HTTP/2"]).optional(),
  /** Limits that it was judged by. */
  limits: z.strictObject({ rpm: count, inFlight: count }).nullable(),
  /** Names of the keys in use. */
  keys: z.array(z.string()),
  /** The workload as written. */
  workload: z.unknown(),
  /** What counted the tokens of prompts, where the workload or its trace gives them in tokens. */
  tokenizer: z.strictObject({ package: z.string(), version: z.string(), vocabulary: z.string() }).optional(),
  startedAt: z.iso.datetime(),
  durationS: z.number(),
  phases: z.array(loadPhaseSchema),
  retryAfter: retryAfterSchema.nullable(),
  generator: generatorSchema,
  instances: z.array(instanceSchema).optional(),
  /** Of one process that sent a share of the schedule: which, from 1. What the run says is of its share alone. */
  shard: z.strictObject({ index: z.int().positive(), of: z.int().positive() }).optional(),
  /** The target's side, where it was watched. */
  watched: watchedSchema.optional(),
  /** Histogram log beside the record, readable by HdrHistogram tools. */
  hlog: z.string().optional(),
});

/** The load half of a run: one entry per tier or workload that was run. */
export const loadSectionSchema = z.strictObject({ runs: z.array(loadRunSchema) });

export type LoadSection = z.infer<typeof loadSectionSchema>;
export type LoadRun = z.infer<typeof loadRunSchema>;
export type LoadPhase = z.infer<typeof loadPhaseSchema>;
export type JudgedPhase = z.infer<typeof judgedPhaseSchema>;
/** A run of load before its verdicts are put among the checks. */
export interface JudgedRun extends Omit<LoadRun, "phases"> {
  readonly phases: JudgedPhase[];
  readonly verdict: LoadVerdict;
  readonly reasons: string[];
}
export interface JudgedLoad {
  readonly runs: JudgedRun[];
}
export type LoadClass = z.infer<typeof classSchema>;
export type LoadSecond = z.infer<typeof secondSchema>;
export type LoadHeat = z.infer<typeof heatSchema>;
export type LoadVerdict = z.infer<typeof loadVerdict>;
export type LoadInstance = z.infer<typeof instanceSchema>;
export type LoadGenerator = z.infer<typeof generatorSchema>;
export type Quantiles = z.infer<typeof quantilesSchema>;
