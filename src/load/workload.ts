import { dirname, resolve } from "node:path";
import { z } from "zod";
import { readText, readYaml } from "../target/index.ts";
import type { Arrivals } from "./schedule.ts";
import { readTrace } from "./trace.ts";

const rate = z.number().positive();
const seconds = z.number().positive();
const whole = z.int().positive();

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
    file: z.string().min(1).meta({ description: "Trace: one JSON object a line, beside the workload file." }),
    speed: z.number().positive().optional(),
  }),
]);

const requestClass = z.strictObject({
  dialect: z.enum(["chat", "messages"]),
  stream: z.boolean().optional().meta({ description: "default false" }),
  model: z.string().min(1).optional().meta({ description: "default: the target's plain or streaming model" }),
  promptTokens: whole.optional().meta({ description: "Words of the prompt; default 20." }),
  maxTokens: whole.optional().meta({ description: "max_tokens of the request; default 64." }),
  weight: z.number().positive().optional().meta({ description: "Share among the classes; default 1." }),
});

const limits = z.strictObject({ rpm: whole, inFlight: whole });

export const workloadSchema = z
  .strictObject({
    name: z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._-]*$/, "must be letters, digits, dots, dashes"),
    tier: z
      .union([z.enum(["starter", "growth", "scale", "own"]), limits])
      .optional()
      .meta({ description: "Makes it a tier run, judged by these limits, instead of plain load." }),
    arrivals: arrivals.optional(),
    mix: z.array(requestClass).min(1).optional(),
    maxInFlight: whole
      .optional()
      .meta({ description: "Most requests in flight; arrivals beyond it are dropped and counted." }),
    warmupS: z.number().nonnegative().optional().meta({ description: "Seconds that are sent and not measured." }),
    engine: z.enum(["native", "autocannon", "k6"]).optional(),
    retryAfter: z
      .enum(["none", "compliant", "ignoring"])
      .optional()
      .meta({ description: "What becomes of denied requests: nothing, retried by the rules, retried at once." }),
    allow: z
      .strictObject({
        deniedShare: z.number().min(0).max(1).optional(),
        failedShare: z.number().min(0).max(1).optional(),
      })
      .optional()
      .meta({ description: "Shares of the sent requests that may be denied or fail; default 0." }),
  })
  .refine((file) => file.tier !== undefined || file.arrivals !== undefined, {
    message: "needs arrivals, or a tier",
    path: ["arrivals"],
  })
  .refine(
    ({ arrivals: given }) => given?.kind !== "closed" || given.requests !== undefined || given.durationS !== undefined,
    { message: "a closed loop needs requests or durationS", path: ["arrivals"] },
  )
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
  readonly model: string | undefined;
  readonly promptTokens: number;
  readonly maxTokens: number;
  readonly weight: number;
}

export interface Workload {
  readonly name: string;
  readonly tier: WorkloadFile["tier"];
  readonly arrivals: Arrivals | undefined;
  readonly mix: readonly RequestClass[];
  readonly maxInFlight: number | undefined;
  readonly warmupS: number;
  readonly engine: "native" | "autocannon" | "k6";
  readonly retryAfter: "none" | "compliant" | "ignoring";
  readonly allow: { readonly deniedShare: number; readonly failedShare: number };
  /** The file as written, for the record. */
  readonly written: unknown;
}

/** @throws ConfigError with every problem of the file and of the trace that it names. */
export function loadWorkload(path: string): Workload {
  const text = readText(path, "Name starter, growth, scale, peak, soak, stress, own, or a workload file.");
  const { value, written } = readYaml(text, path, workloadSchema);
  return resolveWorkload(value, written, path);
}

function resolveWorkload(file: WorkloadFile, written: unknown, path: string): Workload {
  const given = file.arrivals;
  const resolved: Arrivals | undefined =
    given?.kind === "replay"
      ? { kind: "replay", entries: readTrace(resolve(dirname(path), given.file)), speed: given.speed }
      : given;
  return {
    name: file.name,
    tier: file.tier,
    arrivals: resolved,
    mix: (file.mix ?? [{ dialect: "chat" as const }]).map((entry) => ({
      dialect: entry.dialect,
      stream: entry.stream ?? false,
      model: entry.model,
      promptTokens: entry.promptTokens ?? 20,
      maxTokens: entry.maxTokens ?? 64,
      weight: entry.weight ?? 1,
    })),
    maxInFlight: file.maxInFlight,
    warmupS: file.warmupS ?? 0,
    engine: file.engine ?? "native",
    retryAfter: file.retryAfter ?? "none",
    allow: { deniedShare: file.allow?.deniedShare ?? 0, failedShare: file.allow?.failedShare ?? 0 },
    written,
  };
}
