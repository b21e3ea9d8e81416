import { dirname, resolve } from "node:path";
import * as z from "zod";
import { assertKind, optional, readText, readYaml, type Target } from "../../target/index.ts";
import { readThresholds, thresholdBoundOf, thresholdsSchema, type WorkloadThreshold } from "../analysis/thresholds.ts";
import type { WorkloadEvent } from "../events/event.ts";
import { eventProblems, eventsSchema, resolveEvents } from "../events/written-events.ts";
import { isOfStreams, OBJECTIVE_FORM, type RequestObjective, requestObjective } from "../measure/goodput.ts";
import { type Arrivals, kindOf } from "../schedule/arrivals.ts";
import { arrivalsSchema, writtenKindOf } from "../schedule/written-arrivals.ts";
import type { Lengths } from "./lengths.ts";
import { type Images, MIN_IMAGE_BYTES } from "./request-content.ts";
import { lengthsSchema, resolveLengths } from "./written-lengths.ts";

const whole = z.int().positive();
const MAX_IMAGES = 20;
const MAX_IMAGE_BYTES = 20_000_000;
const MAX_TOOL_CALLS = 100;

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
    arrivals: arrivalsSchema.optional(),
    mix: z.array(requestClass).min(1).optional(),
    maxInFlight: optional(whole, "Maximum number of requests in flight; arrivals beyond it are dropped and counted."),
    objectives: optional(
      z.array(z.string().refine((text) => requestObjective(text) !== undefined, OBJECTIVE_FORM)).min(1),
      'Objectives such as "ttft_ms < 300". A request counts as goodput if it meets all of them.',
    ),
    thresholds: optional(
      thresholdsSchema,
      'What the run must meet, in the grammar of a policy: "ttft_ms{stream=true} p95 < 800", "failed < 0.5 %". With { threshold, abortOnFail: true }, the load ends as soon as the threshold is crossed.',
    ),
    events: optional(
      eventsSchema,
      "Events during the load, such as a restart of the gateway, and the limits on what clients may notice.",
    ),
    warmupS: optional(z.number().nonnegative(), "Seconds of load before the measurement starts."),
    engine: z.enum(["native", "autocannon", "k6"]).optional(),
    retryAfter: optional(
      z.enum(["none", "compliant", "ignoring"]),
      "How denied requests are retried: not at all, by the retry rules, or immediately, ignoring Retry-After.",
    ),
    allow: optional(
      z.strictObject({
        deniedShare: optional(
          z.number().min(0).max(1),
          "Maximum share of the sent requests. Default: the bound of a threshold on this share, otherwise 0.",
        ),
        failedShare: optional(
          z.number().min(0).max(1),
          "Maximum share of the sent requests. Default: the bound of a threshold on this share, otherwise 0.",
        ),
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
  .superRefine(({ arrivals, mix = [] }, context) => {
    if (arrivals === undefined) return;
    const message = writtenKindOf(arrivals).problem?.(arrivals);
    if (message !== undefined) context.addIssue({ code: "custom", message, path: ["arrivals"] });
    const ofMix = writtenKindOf(arrivals).problemOfMix?.(mix);
    if (ofMix !== undefined) context.addIssue({ code: "custom", message: ofMix, path: ["mix"] });
  })
  .refine(
    ({ thresholds = [], tier }) =>
      tier === undefined || thresholds.every((entry) => typeof entry === "string" || entry.abortOnFail !== true),
    { message: "abortOnFail is for a workload with arrivals: a tier run has several phases", path: ["thresholds"] },
  )
  .refine(({ events, tier }) => events === undefined || tier === undefined, {
    message: "need arrivals: a tier run defines its own phases",
    path: ["events"],
  })
  .refine(({ events, engine = "native" }) => events === undefined || engine === "native", {
    message: "need the native engine: other engines do not record results by second",
    path: ["events"],
  })
  .superRefine(({ events = [], arrivals, warmupS = 0 }, context) => {
    if (arrivals === undefined || events.length === 0) return;
    for (const { message, path } of eventProblems(events, arrivals, warmupS))
      context.addIssue({ code: "custom", message, path: ["events", ...path] });
  })
  .refine((file) => file.objectives === undefined || file.tier === undefined, {
    message: "are for a workload with arrivals: a tier run is judged by its limits",
    path: ["objectives"],
  })
  .superRefine(({ objectives = [], mix = [], arrivals }, context) => {
    // The lines of our trace format specify whether they stream.
    if ((arrivals && kindOf(arrivals).trace) || mix.some(({ stream }) => stream === true)) return;
    for (const [index, text] of objectives.entries())
      if (isOfStreams(text))
        context.addIssue({
          code: "custom",
          message: "it applies only to streams, and no request in the mix is a stream",
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
  /** In the order of their times. */
  readonly events?: readonly WorkloadEvent[] | undefined;
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
  const text = readText(path, "Name a workload file.");
  assertKind(text, path, "workload file");
  const { value, written } = readYaml(text, path, workloadSchema);
  return resolveWorkload(value, written, path);
}

function resolveWorkload(file: WorkloadFile, written: unknown, path: string): Workload {
  const given = file.arrivals;
  const kind = given && writtenKindOf(given);
  const fileOf = (name: string) => resolve(dirname(path), name);
  return {
    name: file.name,
    tier: file.tier,
    arrivals: kind?.resolve(given, fileOf),
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
    events: file.events && resolveEvents(file.events, path),
    warmupS: file.warmupS ?? 0,
    engine: file.engine ?? "native",
    retryAfter: file.retryAfter ?? "none",
    allow: allowedShares(file),
    namesTokens: kind?.namesTokens === true || (file.mix ?? []).some(({ promptTokens }) => promptTokens !== undefined),
    written,
  };
}

function allowedShares(file: WorkloadFile): AllowedShares {
  return {
    ...DEFAULT_ALLOW,
    deniedShare: thresholdBoundOf(file, "deniedShare") ?? DEFAULT_ALLOW.deniedShare,
    failedShare: thresholdBoundOf(file, "failedShare") ?? DEFAULT_ALLOW.failedShare,
    ...file.allow,
  } as AllowedShares;
}
