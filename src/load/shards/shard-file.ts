import { createHash } from "node:crypto";
import * as z from "zod";
import { TOOL_CALL_KINDS } from "../../http/load-client/index.ts";
import { generatorSchema, judgedPhaseSchema, retryAfterSchema, sessionsSchema } from "../../record/index.ts";
import { OBJECTIVE_FIGURES } from "../measure/goodput.ts";
import { type Counts, mapFigures, noCounts } from "../measure/second-series.ts";
import type { Workload } from "../workload/workload.ts";
import type { StoredShare } from "./stored-share.ts";

/** What a shard reports, in addition to its record. */
export const SHARD_FILE = "shard.json";

/** Version of that file. */
const SHARD_VERSION = 2;

/** What all shards of one load have in common, and the index of this one; written before anything is sent. */
export const shardHeadSchema = z.strictObject({
  /** From 1. */
  index: z.int().positive(),
  of: z.int().positive(),
  /** Common start, by the clock of the time source. */
  startAt: z.iso.datetime(),
  workload: z.string(),
  /** Of the workload with all defaults filled in; a trace with its lines. */
  workloadSha256: z.string(),
  timeSource: z.string(),
  /** Clock of the time source minus that of the shard; `null` if unknown. */
  clockOffsetMs: z.number().nullable(),
  clockUncertaintyMs: z.number().nonnegative().nullable(),
});

const count = z.int().nonnegative();
const histogram = z.strictObject({ encoded: z.string(), maxUs: z.number().nonnegative() });
const outcomes = { admitted: count, denied: count, failed: count, invalid: count };
const counts = { offered: count, sent: count, ...outcomes, dropped: count };
const { dialect, stream, outcome } = judgedPhaseSchema.shape.classes.element.shape;
const { ttftMs: quantiles } = judgedPhaseSchema.shape.series.element.shape;
const { response: heat } = judgedPhaseSchema.shape.heat.unwrap().shape;

const series = z.array(count);

const tallySchema = z.strictObject({
  total: z.strictObject(counts),
  classes: z.array(
    z.strictObject({
      ...{ dialect, stream, outcome, count, outputTokens: count, events: count, reads: count },
      figures: z.record(z.string(), histogram),
      blocks: z.record(z.string(), z.strictObject({ widthUs: z.number().positive(), blocks: z.array(series) })),
    }),
  ),
  lag: histogram,
  series: z.strictObject({
    seconds: z.array(
      z.tuple([
        count,
        z.strictObject({
          ...{ ...counts, peak: count },
          quantilesMs: z.strictObject(mapFigures(() => quantiles)),
          histograms: z.strictObject(mapFigures(() => z.array(histogram))),
        }),
      ]),
    ),
    response: heat.optional(),
    ttft: heat.optional(),
  }),
  counts: z.strictObject({
    widthUs: z.number().positive(),
    counts: z.partialRecord(z.enum([...(Object.keys(noCounts()) as (keyof Counts)[]), "good"]), series),
  }),
  goodput: z.strictObject({ met: series, requests: count, tokens: count, uncounted: count }).optional(),
  turns: z
    .array(
      z.strictObject({
        ...{ turn: count, requests: count, ...outcomes, requestBytes: count },
        ...{ response: histogram, ttft: histogram },
      }),
    )
    .optional(),
  toolCalls: z
    .strictObject({
      ...{ replies: count, withCalls: count },
      counts: z.record(z.enum([...TOOL_CALL_KINDS, "cutOff"]), count),
      blocks: z.strictObject({
        widthUs: z.number().positive(),
        counts: z.partialRecord(z.enum(TOOL_CALL_KINDS), series),
      }),
    })
    .optional(),
});

const shareSchema = z.strictObject({
  tally: tallySchema,
  outcomes: z.strictObject({
    denials: judgedPhaseSchema.shape.denials,
    failures: judgedPhaseSchema.shape.failures,
    invalidReplies: judgedPhaseSchema.shape.invalidReplies,
    unknownFields: judgedPhaseSchema.shape.unknownFields,
  }),
  retries: z.strictObject({
    groups: z.array(
      z.strictObject({ group: retryAfterSchema.shape.groups.element, requested: histogram, actual: histogram }),
    ),
    client: retryAfterSchema.shape.client,
    samples: retryAfterSchema.shape.samples,
  }),
  generator: generatorSchema,
  startUs: z.number(),
  endUs: z.number(),
  peakInFlight: count,
  connections: count,
  protocol: z.enum(["HTTP/1.1", "HTTP/2"]).optional(),
  lastFailure: z.string().optional(),
  sessions: sessionsSchema.pick({ started: true, completed: true }).optional(),
  stop: z.strictObject({ kind: z.enum(["circuit", "outputTokens", "requests"]), why: z.string() }).optional(),
});

const shardFileSchema = z.strictObject({
  schemaVersion: z.literal(SHARD_VERSION),
  /** The parts of the workload that affect the verdict. */
  workload: z.strictObject({
    name: z.string(),
    written: z.unknown(),
    warmupS: z.number().nonnegative(),
    retryAfter: z.enum(["none", "compliant", "ignoring"]),
    allow: z.strictObject({
      deniedShare: z.number(),
      failedShare: z.number(),
      invalidShare: z.number(),
      emptyShare: z.number(),
    }),
    namesTokens: z.boolean().optional(),
    objectives: z
      .array(z.strictObject({ text: z.string(), figure: z.enum(OBJECTIVE_FIGURES), belowMs: z.number() }))
      .readonly()
      .optional(),
  }),
  /** Names of the keys. */
  keys: z.array(z.string()),
  /** Delay of its start after the common start. */
  lateMs: z.number().nonnegative(),
  /** Why it ended before its share was sent, as text; empty if complete. */
  cut: z.string(),
  /** Times from the start of the measurement, µs. */
  share: shareSchema,
});

export type ShardHead = z.infer<typeof shardHeadSchema>;

/** What a shard writes to its folder, to be merged with the others: whole histograms, so that no quantile is averaged. */
export interface ShardFile extends Omit<z.infer<typeof shardFileSchema>, "share" | "schemaVersion"> {
  readonly share: StoredShare;
}

export function writeShardFile(file: ShardFile): string {
  return `${JSON.stringify({ schemaVersion: SHARD_VERSION, ...file })}\n`;
}

/** @returns what is wrong with it, as text, if it is not a valid shard file. */
export function parseShardFile(json: unknown): ShardFile | string {
  const parsed = shardFileSchema.safeParse(json);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    return `${issue?.path.join(".")}: ${issue?.message}`;
  }
  const { schemaVersion: _, ...file } = parsed.data;
  const { tally, protocol, lastFailure, stop } = file.share;
  const { response, ttft } = tally.series;
  const series = { ...tally.series, response, ttft };
  return { ...file, share: { ...file.share, tally: { ...tally, series }, protocol, lastFailure, stop } };
}

/** Equal hashes mean that two shards send parts of the same schedule. */
export function workloadSha256({ written: _, ...resolved }: Workload): string {
  return createHash("sha256").update(JSON.stringify(resolved)).digest("hex");
}
