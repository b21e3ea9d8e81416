import * as z from "zod";
import { latencyFields } from "../../metrics/index.ts";
import { checkResultSchema } from "../check-result.ts";
import { findingSchema } from "../finding.ts";
import { afterLoadSchema, loadEventSchema } from "./event-section.ts";
import { classQuantiles, count, dialect, interval, quantiles, quantilesSchema } from "./load-values.ts";
import { retryAfterSchema } from "./retry-after-section.ts";
import { watchedSchema } from "./watched-section.ts";

/** How a request ended. One class, one outcome, one histogram: these are never mixed. */
export const LOAD_OUTCOMES = ["admitted", "denied", "failed", "invalid", "unfinished"] as const;

/** All requests of one dialect and mode with the same outcome. */
const classSchema = z.strictObject({
  dialect,
  stream: z.boolean(),
  /** `invalid`: a complete 2xx reply that no client could use. `unfinished`: a stream that was admitted and then truncated. */
  outcome: z.enum(LOAD_OUTCOMES),
  count,
  ...latencyFields(() => classQuantiles),
  /** Mean events per network read: far above 1 behind a buffering proxy. */
  eventsPerRead: z.number().nullable(),
  /** From `usage`, or counted events if there is none. */
  outputTokens: count,
});

const secondQuantiles = z.strictObject({ p50: z.number(), p95: z.number(), p99: z.number() }).nullable();

export const responseByModeSchema = z.strictObject({ streaming: secondQuantiles, nonStreaming: secondQuantiles });

/** One second of a phase. */
const secondSchema = z.strictObject({
  /** Seconds from the start of the run. */
  atS: z.number(),
  offered: count,
  sent: count,
  admitted: count,
  denied: count,
  failed: count,
  invalid: count,
  dropped: count,
  /** Maximum within the second. */
  inFlight: count,
  /** E2E latency of the admitted requests that ended in this second, by mode. */
  responseByModeMs: responseByModeSchema,
  /** Of the admitted streams that ended in it. */
  ttftMs: secondQuantiles,
});

/** Durations of admitted requests over time, counted by size. */
const heatSchema = z.strictObject({
  /** Width of a column, s. */
  everyS: z.number().positive(),
  /**
   * From the start of the phase, one text per column: `ROW:COUNT`, separated by blanks; row r holds durations from 10^(r/10) up
   * to 10^((r+1)/10) microseconds.
   */
  columns: z.array(z.string().regex(/^(?:\d{1,3}:\d{1,12}(?: |$))*$/)),
});

/** Requests that met every objective of a workload. */
const goodputSchema = z.strictObject({
  /** Admitted requests that met each objective alone; an objective that does not apply to a reply is met. */
  objectives: z.array(z.strictObject({ text: z.string(), met: count })),
  requests: count,
  /** Per second of the phase. */
  requestsPerS: z.number(),
  /** Of the arrivals, including dropped ones; `null` if there were none. */
  share: z.number().nullable(),
  /** Output tokens of these requests; `null` if a reply did not state its number. */
  tokens: count.nullable(),
  tokensPerS: z.number().nullable(),
  /** 95 %; `null`: the phase was too short or had no arrivals. */
  intervals: z.strictObject({ requestsPerS: interval, share: interval }),
});

const ofToolCallKinds = <Schema extends z.ZodType>(schema: Schema) =>
  z.strictObject({ valid: schema, invalidJson: schema, unknownName: schema, schemaMismatch: schema }).nullable();

/** What a client finds when it reads the tool calls of admitted replies to requests with tools. */
const toolCallsSchema = z.strictObject({
  /** Admitted replies to requests with tools, and those of them with at least one call. */
  replies: count,
  withCalls: count,
  /** Calls of the next four kinds together; a call that the output limit truncated counts only in `cutOff`. */
  calls: count,
  valid: count,
  invalidJson: count,
  /** The request had no tool of this name. */
  unknownName: count,
  /** The arguments do not match the tool's schema. */
  schemaMismatch: count,
  cutOff: count,
  /** Of the calls, with their 95 % intervals; `null` if there were none. */
  shares: ofToolCallKinds(z.number()),
  intervals: ofToolCallKinds(interval),
});

/** Conversations of several turns. */
export const sessionsSchema = z.strictObject({
  /** Including the warm-up's. */
  started: count,
  /** Every turn was admitted. */
  completed: count,
  turns: z.array(
    z.strictObject({
      /** From 1; the tenth includes all later ones. */
      turn: count,
      requests: count,
      admitted: count,
      denied: count,
      failed: count,
      invalid: count,
      /** Head and body: the context grows. */
      meanRequestBytes: z.number(),
      /** Of admitted requests, from the due time: the end of the previous response plus the think time. */
      responseMs: quantiles,
      ttftMs: quantiles,
    }),
  ),
});

const loadVerdict = z.enum(["pass", "warn", "fail", "inconclusive", "not-applicable"]);

/** One phase of a run. */
export const loadPhaseSchema = z.strictObject({
  /** `at-concurrency-limit`, `at-rate-limit`, `over-rate-limit`, `recovery`; the name of a workload file. */
  name: z.string(),
  title: z.string(),
  /** Seconds from the start of the run. */
  startS: z.number(),
  durationS: z.number(),
  offered: count,
  sent: count,
  admitted: count,
  denied: count,
  failed: count,
  /** Complete 2xx replies that no client could use. */
  invalid: count,
  /** Arrivals that could not be sent because the generator reached its own limit. */
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
  /** Of the requests that were sent and have an outcome. */
  shares: z
    .strictObject({
      admitted: z.number(),
      denied: z.number(),
      failed: z.number(),
      invalid: z.number(),
      intervals: z.strictObject({ admitted: interval, denied: interval, failed: interval, invalid: interval }),
    })
    .optional(),
  /** Steady part of the phase, seconds from the start of the run; `null` if there is none. */
  steady: z
    .strictObject({
      fromS: z.number().nullable(),
      toS: z.number().nullable(),
      /**
       * `drift`: the rate or the latency changes until the end; `ramp`: the offered rate does, and the latency does not; `growth`:
       * more requests than responses; `saw-tooth`: periodic ups and downs; `too-short`: neither mode has ten seconds with a response.
       */
      kind: z.enum(["steady", "drift", "ramp", "growth", "saw-tooth", "too-short"]),
    })
    .optional(),
  /** If the workload has objectives. */
  goodput: goodputSchema.optional(),
  /** If requests of the workload have tools. */
  toolCalls: toolCallsSchema.optional(),
  /** If the arrivals of the workload are sessions. */
  sessions: sessionsSchema.optional(),
  peakInFlight: count,
  connections: count,
  classes: z.array(classSchema),
  series: z.array(secondSchema),
  /** Response times by the time of the end, times to first token by the time of the token. */
  heat: z.strictObject({ response: heatSchema, ttft: heatSchema.optional() }).optional(),
  denials: z.array(
    z.strictObject({ reason: z.string(), dialect, stream: z.boolean(), count, exchange: z.string().optional() }),
  ),
  /** Defects of the invalid replies: `HTML page`, `empty text`, … */
  invalidReplies: z.array(z.strictObject({ what: z.string(), count, exchange: z.string().optional() })),
  /** Fields with output that no known client reads, and the number of streams that have them. */
  unknownFields: z.array(z.strictObject({ name: z.string(), streams: count })),
  /** How requests failed: `500`, `reset`, `deadline`, `cut stream`, … */
  failures: z.array(z.strictObject({ what: z.string(), count, exchange: z.string().optional() })),
  /** Exchanges that were kept and judged. */
  sampled: count,
});

/** A phase with its findings, as stored in the journal. In the record the findings are among the checks. */
export const judgedPhaseSchema = loadPhaseSchema.extend({
  verdict: loadVerdict,
  /** The result in one sentence. */
  message: z.string(),
  findings: z.array(findingSchema),
  /** Invariants of the suites, over sampled exchanges of the phase. */
  invariants: z.array(checkResultSchema),
});

export const generatorSchema = z.strictObject({
  valid: z.boolean(),
  /** Bounds that were exceeded, as text; empty if valid. */
  problems: z.array(z.string()),
  /** Send time minus due time. */
  scheduleLagMs: quantilesSchema,
  /** Delay of the event loop beyond its sampling interval; `null` for an engine without one. */
  loopDelayMs: quantiles,
  /** Share of the time in which the event loop was busy; absent for an engine without one. */
  loopBusyShare: z.number().optional(),
  /** Of the whole process, during the run. */
  cpuS: z.number(),
  /** Share of one core, and of the machine used by other processes. */
  cpuShare: z.number(),
  peakRssBytes: z.number(),
  /** Requests that had to wait for a connection. */
  connectionWaits: count,
  workers: count,
  /** Short run against the built-in timestamping server just before: the latency that this machine adds. */
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

/** One of several generators, for engines that run more than one. */
const instanceSchema = z.strictObject({
  name: z.string(),
  /** Its share of the schedule, `0:1/3`; empty if unknown. */
  segment: z.string(),
  requests: count,
  /** It finished its share. */
  complete: z.boolean(),
  /** How it ended, as text. */
  ended: z.string(),
  /** The gateway's clock minus its own, from `Date` headers; `null` if it is unknown or is the same clock. */
  clockOffsetMs: z.number().nullable(),
  /** Error of the offset, either way. */
  clockUncertaintyMs: z.number().nullable(),
  /** Delay of its start after the common start; absent if there is none. */
  lateMs: z.number().nonnegative().optional(),
  /** Why its generator was not valid, as text; absent if that is not reported per instance. */
  problems: z.array(z.string()).optional(),
});

const loadRunSchema = z.strictObject({
  /** `starter`, `growth`, `scale`, or the name of a workload. */
  name: z.string(),
  kind: z.enum(["tier", "workload"]),
  /** Of a tier run: `quick` omits overload and recovery, `brief` the longest waits. */
  length: z.enum(["thorough", "brief", "quick"]).optional(),
  engine: z.enum(["native", "autocannon", "k6"]),
  /** The protocol of the native engine; absent if none was negotiated, and for the others. */
  protocol: z.enum(["HTTP/1.1", "HTTP/2"]).optional(),
  /** Limits that it was judged by. */
  limits: z.strictObject({ rpm: count, inFlight: count }).nullable(),
  /** Names of the keys in use. */
  keys: z.array(z.string()),
  /** The workload as written. */
  workload: z.unknown(),
  /** The tokenizer for prompts, if the workload or its trace gives them in tokens. */
  tokenizer: z.strictObject({ package: z.string(), version: z.string(), vocabulary: z.string() }).optional(),
  startedAt: z.iso.datetime(),
  durationS: z.number(),
  phases: z.array(loadPhaseSchema),
  retryAfter: retryAfterSchema.nullable(),
  generator: generatorSchema,
  instances: z.array(instanceSchema).optional(),
  /** For one process that sent a share of the schedule: which one, from 1. The results of the run are those of its share only. */
  shard: z.strictObject({ index: z.int().positive(), of: z.int().positive() }).optional(),
  /** What was done to the gateway meanwhile, in the order of the planned times. */
  events: z.array(loadEventSchema).optional(),
  /** The streams that were sent after the load, if an event expects that no capacity has leaked. */
  afterLoad: afterLoadSchema.optional(),
  /** The target's side, if it was monitored. */
  watched: watchedSchema.optional(),
  /** Histogram log next to the record, readable by HdrHistogram tools. */
  hlog: z.string().optional(),
});

/** The load section of a run: one entry per tier or workload that was run. */
export const loadSectionSchema = z.strictObject({ runs: z.array(loadRunSchema) });

export type LoadSection = z.infer<typeof loadSectionSchema>;
export type LoadRun = z.infer<typeof loadRunSchema>;
export type LoadPhase = z.infer<typeof loadPhaseSchema>;
export type JudgedPhase = z.infer<typeof judgedPhaseSchema>;
export type LoadClass = z.infer<typeof classSchema>;
export type LoadSecond = z.infer<typeof secondSchema>;
export type SecondQuantiles = z.infer<typeof secondQuantiles>;
export type LoadHeat = z.infer<typeof heatSchema>;
export type LoadVerdict = z.infer<typeof loadVerdict>;
export type LoadInstance = z.infer<typeof instanceSchema>;
export type LoadGenerator = z.infer<typeof generatorSchema>;
export type Quantiles = z.infer<typeof quantilesSchema>;
