import { dirname, resolve } from "node:path";
import * as z from "zod";
import { ConfigError } from "../../core/index.ts";
import { optional, readText, readYaml, type Target } from "../../target/index.ts";
import { readThresholds, thresholdsSchema, type WorkloadThreshold } from "../analysis/thresholds.ts";
import { isOfStreams, OBJECTIVE_FORM, type RequestObjective, requestObjective } from "../measure/goodput.ts";
import type { Arrivals, TraceEntry } from "../schedule/schedule.ts";
import type { Lengths } from "./lengths.ts";
import { type Images, MIN_IMAGE_BYTES } from "./request-content.ts";
import { readTrace, scaleTrace, TRACE_FORMATS } from "./trace.ts";
import { lengthsSchema, resolveLengths, resolveMs, secondsSchema } from "./written-lengths.ts";

const rate = z.number().positive();
const seconds = z.number().positive();
const whole = z.int().positive();
const MAX_IMAGES = 20;
const MAX_IMAGE_BYTES = 20_000_000;
const MAX_TOOL_CALLS = 100;

const arrivals = z.discriminatedUnion("kind", [
  z.strictObject({ kind: z.literal("constant"), ratePerS: rate, durationS: seconds }),
  z.strictObject({ kind: z.literal("poisson"), ratePerS: rate, durationS: seconds, seed: z.int().optional() }),
  z.strictObject({
    kind: z.literal("ramp"),
    fromPerS: z.number().nonnegative(),
    toPerS: z.number().nonnegative(),
    durationS: seconds,
  }),
  z.strictObject({
    kind: z.literal("steps"),
    steps: z.array(z.strictObject({ ratePerS: rate, durationS: seconds })).min(1),
  }),
  z.strictObject({ kind: z.literal("burst"), size: whole, everyS: seconds, durationS: seconds }),
  z.strictObject({
    kind: z.literal("closed"),
    inFlight: whole,
    requests: whole.optional(),
    durationS: seconds.optional(),
    rampS: z.number().nonnegative().optional(),
  }),
  z.strictObject({
    kind: z.literal("replay"),
    file: z.string().min(1).meta({ description: "Trace file; its path is relative to the workload file." }),
    format: optional(z.enum(TRACE_FORMATS), "default auto: determined by the first line"),
    speed: optional(z.number().positive(), "2 replays it in half the time, at twice the rate; default 1."),
    ratePerS: optional(rate, "Mean rate: requests are dropped or repeated, and the duration stays the same."),
    requests: optional(whole, "Only this many requests from the beginning of the trace."),
  }),
  z.strictObject({
    kind: z.literal("sessions"),
    ratePerS: rate.meta({ description: "Sessions that begin per second." }),
    durationS: seconds.meta({
      description: "Sessions begin within this time; sessions that have begun run to completion.",
    }),
    spacing: optional(z.enum(["even", "poisson"]), "How sessions arrive; default even."),
    turns: lengthsSchema.meta({ description: "Requests of a session." }),
    thinkS: optional(secondsSchema, "From the end of a reply to the next turn; default 0."),
    sharedPrefix: optional(
      z.strictObject({ share: z.number().min(0).max(1), tokens: whole }),
      "System prompt: this share of the sessions has the same one, each of the others its own.",
    ),
    header: optional(
      z.string().regex(/^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/, "must be the name of a header"),
      "Header with the id of the session; default X-Session-Id.",
    ),
  }),
]);

const requestClass = z
  .strictObject({
    dialect: z.enum(["chat", "messages"]),
    stream: optional(z.boolean(), "default false"),
    model: optional(z.string().min(1), "default: the target's plain or streaming model"),
    promptTokens: optional(
      lengthsSchema,
      "Tokens of the prompt's text, by the tokenizer that the record names; default 20.",
    ),
    promptBytes: optional(lengthsSchema, "Length of the prompt's text in bytes, instead of promptTokens."),
    maxTokens: optional(lengthsSchema, "max_tokens of the request; default 64."),
    images: optional(
      z.strictObject({ count: whole.max(MAX_IMAGES), bytes: z.int().min(MIN_IMAGE_BYTES).max(MAX_IMAGE_BYTES) }),
      "PNG images in addition to the prompt; bytes of each, before base64.",
    ),
    toolCalls: optional(
      whole.max(MAX_TOOL_CALLS),
      "Calls of a tool in the conversation before the prompt, each with its result.",
    ),
    includeUsage: optional(
      z.boolean(),
      "Chat streams: request the token counts with stream_options.include_usage; a stream without them is then invalid.",
    ),
    weight: optional(z.number().positive(), "Share among the classes; default 1."),
  })
  .refine(({ promptTokens, promptBytes }) => promptTokens === undefined || promptBytes === undefined, {
    message: "cannot be combined with promptTokens: name one of them",
    path: ["promptBytes"],
  });

const limits = z.strictObject({ rpm: whole, inFlight: whole });

export const workloadSchema = z
  .strictObject({
    name: z
      .string()
      .regex(/^[A-Za-z0-9][A-Za-z0-9._-]*$/, "must consist of letters, digits, dots and dashes")
      .refine((name) => name !== "thresholds", 'must not be "thresholds": this name is reserved'),
    tier: optional(
      z.union([z.enum(["starter", "growth", "scale", "own"]), limits]),
      "Makes it a tier run, judged by these limits, instead of plain load.",
    ),
    arrivals: arrivals.optional(),
    mix: z.array(requestClass).min(1).optional(),
    maxInFlight: optional(whole, "Maximum number of requests in flight; arrivals beyond it are dropped and counted."),
    objectives: optional(
      z.array(z.string().refine((text) => requestObjective(text) !== undefined, OBJECTIVE_FORM)).min(1),
      'What a request must meet to count as goodput, as "ttft_ms < 300"; all of them at once.',
    ),
    thresholds: optional(
      thresholdsSchema,
      'What the run must meet, in the grammar of a policy: "ttft_ms{stream=true} p95 < 800", "failed < 0.5 %". With { threshold, abortOnFail: true }, the load ends as soon as the threshold is crossed.',
    ),
    warmupS: optional(z.number().nonnegative(), "Seconds that are sent and not measured."),
    engine: z.enum(["native", "autocannon", "k6"]).optional(),
    retryAfter: optional(
      z.enum(["none", "compliant", "ignoring"]),
      "What happens to denied requests: nothing, retries by the rules, or immediate retries.",
    ),
    allow: optional(
      z.strictObject({
        deniedShare: optional(z.number().min(0).max(1), "Share of the requests sent; default 0."),
        failedShare: optional(z.number().min(0).max(1), "Share of the requests sent; default 0."),
        invalidShare: optional(
          z.number().min(0).max(1),
          "Share of the 2xx replies that no client could use; default 0.005. The run fails if the 95 % interval of the share lies above it.",
        ),
        emptyShare: optional(
          z.number().min(0).max(1),
          "Share of the 2xx replies whose text is empty although they were not truncated; default 0.02. Decided in the same way.",
        ),
      }),
      "Shares of requests that may be denied, fail, or have an unusable reply.",
    ),
  })
  .refine((file) => file.tier !== undefined || file.arrivals !== undefined, {
    message: "needs arrivals, or a tier",
    path: ["arrivals"],
  })
  .refine(
    ({ arrivals: given }) => given?.kind !== "closed" || given.requests !== undefined || given.durationS !== undefined,
    { message: "a closed loop needs requests or durationS", path: ["arrivals"] },
  )
  .refine(
    ({ thresholds = [], tier }) =>
      tier === undefined || thresholds.every((entry) => typeof entry === "string" || entry.abortOnFail !== true),
    { message: "abortOnFail is for a workload with arrivals: a tier run has several phases", path: ["thresholds"] },
  )
  .refine((file) => file.objectives === undefined || file.tier === undefined, {
    message: "are for a workload with arrivals: a tier run is judged by its limits",
    path: ["objectives"],
  })
  .refine(
    ({ arrivals: given, mix = [] }) =>
      given?.kind !== "sessions" ||
      mix.every(({ images, toolCalls }) => images === undefined && toolCalls === undefined),
    { message: "has images or toolCalls: the turns of sessions are texts", path: ["mix"] },
  )
  .superRefine(({ objectives = [], mix = [], arrivals: given }, context) => {
    // The lines of our trace format specify whether they stream.
    if (given?.kind === "replay" || mix.some(({ stream }) => stream === true)) return;
    for (const [index, text] of objectives.entries())
      if (isOfStreams(text))
        context.addIssue({
          code: "custom",
          message: "it applies only to streams, and no request of the mix streams",
          path: ["objectives", index],
        });
  })
  .meta({ title: "Gauntlet workload", description: "What load is sent, and how." });

export type WorkloadFile = z.infer<typeof workloadSchema>;

/** JSON Schema of workload files; published as `schemas/workload.schema.json`. */
export function workloadJsonSchema(): Record<string, unknown> {
  return z.toJSONSchema(workloadSchema) as Record<string, unknown>;
}

/** A class of the mix with its defaults filled in; the model may still depend on the target. */
export interface RequestClass {
  readonly dialect: "chat" | "messages";
  readonly stream: boolean;
  readonly model?: string | undefined;
  readonly promptTokens: Lengths;
  /** Replaces `promptTokens`. */
  readonly promptBytes?: Lengths | undefined;
  readonly maxTokens: Lengths;
  readonly images?: Images | undefined;
  readonly toolCalls?: number | undefined;
  /** Chat streams request their usage. */
  readonly includeUsage?: boolean | undefined;
  readonly weight: number;
}

/** Shares that a workload tolerates: of the requests sent, and of the 2xx replies. */
export interface AllowedShares {
  readonly deniedShare: number;
  readonly failedShare: number;
  readonly invalidShare: number;
  readonly emptyShare: number;
}

/** Real models return an empty text now and then. Other unusable replies are not expected. */
export const DEFAULT_ALLOW: AllowedShares = { deniedShare: 0, failedShare: 0, invalidShare: 0.005, emptyShare: 0.02 };

export interface Workload {
  readonly name: string;
  readonly tier?: WorkloadFile["tier"];
  readonly arrivals: Arrivals | undefined;
  readonly mix: readonly RequestClass[];
  readonly maxInFlight?: number | undefined;
  readonly objectives?: readonly RequestObjective[] | undefined;
  readonly thresholds?: readonly WorkloadThreshold[] | undefined;
  readonly warmupS: number;
  readonly engine: "native" | "autocannon" | "k6";
  readonly retryAfter: "none" | "compliant" | "ignoring";
  readonly allow: AllowedShares;
  /** Whether the file or its trace specifies prompt lengths in tokens. */
  readonly namesTokens?: boolean | undefined;
  /** The file as written, for the record. */
  readonly written: unknown;
}

/** A short request in the target's first dialect, for workloads without a file. */
export function shortClass({ dialects }: Pick<Target, "dialects">, stream: boolean): RequestClass {
  return { dialect: dialects[0] ?? "chat", stream, promptTokens: 20, maxTokens: 64, weight: 1 };
}

/** @throws ConfigError with all problems of the file and of its trace. */
export function loadWorkload(path: string): Workload {
  const text = readText(path, "Name starter, growth, scale, peak, soak, stress, own, or a workload file.");
  const { value, written } = readYaml(text, path, workloadSchema);
  return resolveWorkload(value, written, path);
}

function resolveWorkload(file: WorkloadFile, written: unknown, path: string): Workload {
  const given = file.arrivals;
  const fileOf = (name: string) => resolve(dirname(path), name);
  return {
    name: file.name,
    tier: file.tier,
    arrivals: given && resolveArrivals(given, fileOf),
    mix: (file.mix ?? [{ dialect: "chat" as const }]).map((entry) => ({
      dialect: entry.dialect,
      stream: entry.stream ?? false,
      model: entry.model,
      promptTokens: resolveLengths(entry.promptTokens ?? 20, fileOf),
      promptBytes: entry.promptBytes && resolveLengths(entry.promptBytes, fileOf),
      maxTokens: resolveLengths(entry.maxTokens ?? 64, fileOf),
      images: entry.images,
      toolCalls: entry.toolCalls,
      includeUsage: entry.includeUsage,
      weight: entry.weight ?? 1,
    })),
    maxInFlight: file.maxInFlight,
    objectives: file.objectives?.flatMap((text) => requestObjective(text) ?? []),
    thresholds: file.thresholds && readThresholds(file.thresholds),
    warmupS: file.warmupS ?? 0,
    engine: file.engine ?? "native",
    retryAfter: file.retryAfter ?? "none",
    allow: allowedShares(file.allow),
    namesTokens:
      given?.kind === "replay" ||
      given?.kind === "sessions" ||
      (file.mix ?? []).some(({ promptTokens }) => promptTokens !== undefined),
    written,
  };
}

function allowedShares(given: WorkloadFile["allow"] = {}): AllowedShares {
  const { deniedShare, failedShare, invalidShare, emptyShare } = { ...DEFAULT_ALLOW, ...given } as AllowedShares;
  return { deniedShare, failedShare, invalidShare, emptyShare };
}

function resolveArrivals(given: NonNullable<WorkloadFile["arrivals"]>, fileOf: (name: string) => string): Arrivals {
  if (given.kind === "replay") return { kind: "replay", entries: entriesOf(given, fileOf), speed: given.speed };
  if (given.kind !== "sessions") return given;
  const { thinkS = 0, spacing = "even", header = "X-Session-Id", ...sessions } = given;
  return { ...sessions, spacing, header, turns: resolveLengths(given.turns, fileOf), thinkMs: resolveMs(thinkS) };
}

type Replay = Extract<NonNullable<WorkloadFile["arrivals"]>, { kind: "replay" }>;

function entriesOf(replay: Replay, fileOf: (name: string) => string): readonly TraceEntry[] {
  const file = fileOf(replay.file);
  const entries = scaleTrace(readTrace(file, replay.format), replay);
  if (entries.length > 0) return entries;
  throw new ConfigError([
    { file, path: "", message: `no request is left of it at ${replay.ratePerS} requests per second.` },
  ]);
}
