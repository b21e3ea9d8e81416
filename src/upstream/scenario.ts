import * as z from "zod";

const ms = z.number().min(0).max(600_000);
const whole = z.number().int().min(0).max(1_000_000);
/** Allows an event of several megabytes. */
const size = z
  .number()
  .int()
  .min(1)
  .max(4 * 1_048_576);

/** A response that is not a reply. */
const errorSchema = z.strictObject({
  status: z.number().int().min(400).max(599),
  /** As sent: seconds or a date; absent: no such header. */
  retryAfter: z.union([z.number(), z.string()]).optional(),
  /** `type` in the body; by default the providers' type for the status. */
  type: z.string().optional(),
  message: z.string().default("The upstream is configured to fail."),
});

/** How and where a response is interrupted. */
const breakSchema = z.strictObject({
  how: z.enum(["reset", "close", "stall"]),
  /** A number: after this many events of a stream. */
  at: z.union([z.enum(["before-head", "inside-head", "after-head"]), whole]),
});

/** Without arguments, the only argument is `text`: the numbered words. Without an id, the reply numbers its calls. */
const toolCallSchema = z.strictObject({
  name: z.string().min(1),
  id: z.string().min(1).optional(),
  arguments: z.record(z.string(), z.json()).optional(),
});

const behaviourSchema = z.strictObject({
  /** From the end of the request to the head of the response, ms. */
  latencyMs: ms.default(0),
  /** From the head of a stream to its first text, ms. */
  firstTokenMs: ms.default(0),
  /** Between consecutive texts of a stream, ms. */
  gapMs: ms.default(0),
  /** Number of texts of a reply, and the length of each, bytes; a list has the length of each, and sets their number. */
  pieces: whole.min(1).default(8),
  pieceBytes: z.union([size, z.array(size).min(1).max(100)]).default(6),
  /** Text of a reply, instead of numbered words; it is split into `pieces`. */
  text: z.string().min(1).max(1_048_576).optional(),
  /**
   * Token usage of the reply; `output` is one for each piece by default. `cached` (read from the cache) and the two kinds of
   * cache writes, by lifetime, are part of `input`; `reasoning` is part of `output`.
   */
  usage: z
    .strictObject({
      input: whole.default(12),
      output: whole.optional(),
      cached: whole.default(0),
      cacheWrite5m: whole.default(0),
      cacheWrite1h: whole.default(0),
      reasoning: whole.default(0),
    })
    .prefault({}),
  /** The numbered words are reasoning, which precedes the text; the text is then one word. */
  reasoning: z.boolean().default(false),
  /** The reply calls this tool instead of sending text; a list: these tools, as parallel calls. */
  tool: z.union([toolCallSchema, z.array(toolCallSchema).min(1).max(100)]).optional(),
  error: errorSchema.optional(),
  break: breakSchema.optional(),
  /** Write size in bytes and the interval between writes; absent: as fast as the socket accepts. */
  slowly: z.strictObject({ bytes: whole.min(1), everyMs: ms.min(1) }).optional(),
});

/** A model, by the responses to its successive requests; the last of a list applies to all further ones. */
const modelSchema = z.union([behaviourSchema, z.array(behaviourSchema).min(1)]);

/** The responses to requests with one marker, by provider; `*` is any other. Providers that are not named serve them. */
export const scriptSchema = z.record(z.string(), modelSchema);

const providerSchema = z.strictObject({
  /** By the name of the model; `*` is any other. Absent: every model is served. */
  models: z.record(z.string(), modelSchema).default({}),
});

export const scenarioSchema = z.strictObject({
  /** By name; each has its own base URL. */
  providers: z
    .record(z.string().regex(/^[a-z0-9][a-z0-9-]{0,30}$/, "lower-case letters, digits and hyphens"), providerSchema)
    .refine((all) => Object.keys(all).length > 0, "at least one provider")
    .default({ upstream: { models: {} } }),
});

/** JSON Schema of scenario files; published as `schemas/upstream.schema.json`. */
export function scenarioJsonSchema(): Record<string, unknown> {
  const described = scenarioSchema.meta({
    title: "Upstream scenario",
    description: "How each provider and model responds.",
  });
  return z.toJSONSchema(described, { io: "input" }) as Record<string, unknown>;
}

/** What every provider does instead, for a while: only these fields replace those of the scenario. */
export const disturbanceSchema = z
  .strictObject({
    latencyMs: ms.optional(),
    firstTokenMs: ms.optional(),
    gapMs: ms.optional(),
    error: errorSchema.optional(),
    break: breakSchema.optional(),
    /** Seconds until it ends automatically; absent: it lasts until it is deleted. */
    forS: z.number().positive().max(3_600).optional(),
  })
  .refine((given) => Object.keys(given).some((name) => name !== "forS"), {
    message: "expected at least one of latencyMs, firstTokenMs, gapMs, error and break",
  });

export type ScriptedToolCall = z.infer<typeof toolCallSchema>;
export type Disturbance = z.infer<typeof disturbanceSchema>;
export type Behaviour = z.infer<typeof behaviourSchema>;
export type MarkedScript = z.infer<typeof scriptSchema>;
/** As written, without defaults. */
export type ScriptInput = z.input<typeof scriptSchema>;
export type Scenario = z.infer<typeof scenarioSchema>;

const SERVED: Behaviour = behaviourSchema.parse({});
/** Maximum number of markers with their own script. */
const MAX_MARKED = 10_000;

const isList = (own: Behaviour | readonly Behaviour[]): own is readonly Behaviour[] => Array.isArray(own);

/** The successive responses for the models of a scenario. */
export class Turns {
  readonly #scenario: Scenario;
  readonly #taken = new Map<string, number>();
  readonly #scripts = new Map<string, MarkedScript>();

  constructor(scenario: Scenario) {
    this.#scenario = scenario;
  }

  /** The next requests with a marker get these responses, whichever model they are for. */
  setScript(marker: string, script: MarkedScript): void {
    this.#scripts.delete(marker);
    this.#scripts.set(marker, script);
    for (const key of this.#taken.keys()) if (key.endsWith(`\n${marker}`)) this.#taken.delete(key);
    const [oldest] = this.#scripts.keys();
    if (this.#scripts.size > MAX_MARKED && oldest !== undefined) this.#scripts.delete(oldest);
  }

  /** Names of the models that a provider lists. */
  modelsOf(provider: string): readonly string[] {
    const named = Object.keys(this.#scenario.providers[provider]?.models ?? {}).filter((name) => name !== "*");
    return named.length === 0 ? ["upstream-model"] : named;
  }

  /** The response to the next request for a model; `undefined` if the provider does not have it. */
  next(provider: string, model: string, marker?: string): Behaviour | undefined {
    const script = marker === undefined ? undefined : this.#scripts.get(marker);
    if (marker !== undefined && script !== undefined) {
      const own = Object.hasOwn(script, provider) ? script[provider] : script["*"];
      return own === undefined ? SERVED : this.#inTurn(own, `${provider}\n${marker}`);
    }
    const models = this.#scenario.providers[provider]?.models ?? {};
    const own = Object.hasOwn(models, model) ? models[model] : models["*"];
    if (own === undefined) return Object.keys(models).length === 0 ? SERVED : undefined;
    return this.#inTurn(own, `${provider}\n${model}`);
  }

  #inTurn(own: Behaviour | readonly Behaviour[], key: string): Behaviour | undefined {
    if (!isList(own)) return own;
    const turn = this.#taken.get(key) ?? 0;
    this.#taken.set(key, turn + 1);
    return own[Math.min(turn, own.length - 1)];
  }
}
