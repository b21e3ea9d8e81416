import type { RequestSpec, Session } from "../../src/checks/index.ts";
import type { JsonObject } from "../../src/core/index.ts";
import type { Dialect, Mode } from "../../src/dialects/index.ts";
import type { ProviderScript } from "../upstream/marked.ts";

/** Tokens by kind. Those read from and written to a cache are part of the input, reasoning is part of the output. */
export type Tokens = {
  readonly input: number;
  readonly cachedInput: number;
  readonly cacheWrite5m: number;
  readonly cacheWrite1h: number;
  readonly output: number;
  readonly reasoning: number;
};

export const NO_TOKENS: Tokens = {
  input: 0,
  cachedInput: 0,
  cacheWrite5m: 0,
  cacheWrite1h: 0,
  output: 0,
  reasoning: 0,
};

/**
 * What should become of a request. `uncertain`: it is interrupted, and the specification leaves open what it costs. `retried`: an
 * attempt at a provider fails first; whether the gateway makes another one is its own decision.
 */
export type RequestOutcome = "served" | "retried" | "failed" | "uncertain";

/** A request whose row is looked up. */
export interface Case {
  readonly what: string;
  readonly outcome: RequestOutcome;
  readonly dialect: Dialect;
  readonly mode: Mode;
  /** Model that the caller names; absent: that of the providers. */
  readonly model?: string;
  /** What the provider counts besides the input, whose number is chosen later. */
  readonly usage?: Partial<Tokens>;
  /** What the providers do, given the usage. */
  readonly script?: (usage: JsonObject) => ProviderScript;
  /** The caller disconnects after the first bytes. */
  readonly leaves?: true;
}

const PLAIN = { output: 30 } as const;
/** Shares of the input, in tokens: smaller than any input. */
const CACHED = { output: 20, cachedInput: 1_500 } as const;
const WRITE_5M = { output: 20, cacheWrite5m: 1_400 } as const;
const WRITE_1H = { output: 20, cacheWrite1h: 1_300 } as const;
const REASONING = { output: 60, reasoning: 45 } as const;

/** Most models, besides the plain one, whose price is tested. */
const MAX_MODELS = 4;

export interface CasesOptions {
  readonly dialects: readonly Dialect[];
  /** Providers in the order in which they are called; fewer than two: no failover. */
  readonly failover: readonly string[];
  /** Models with a price, except the plain one. */
  readonly otherModels: readonly string[];
  /** Whether the row of a request can be found without its tokens: those of an interrupted one are not known. */
  readonly hasIds: boolean;
}

/** The requests of the scenario, in order. */
export function casesFor({ dialects, failover, otherModels, hasIds }: CasesOptions): readonly Case[] {
  const [first = "chat"] = dialects;
  const cases: Case[] = [];
  for (const dialect of dialects)
    for (const mode of ["non-streaming", "streaming"] as const) {
      const add = (what: string, rest: Partial<Case>) =>
        cases.push({ what: `${dialect}, ${mode}, ${what}`, outcome: "served", dialect, mode, ...rest });
      add("plain", { usage: PLAIN });
      add("cached input", { usage: CACHED });
      // Only the messages dialect reports cache writes, and only the chat dialect reports reasoning.
      if (dialect === "messages") {
        add("cache write, 5 minutes", { usage: WRITE_5M });
        add("cache write, 1 hour", { usage: WRITE_1H });
      } else add("reasoning", { usage: REASONING });
      add("provider fails", { outcome: "failed", script: () => ({ "*": FAILURE }) });
      add("provider fails once", {
        outcome: "retried",
        usage: PLAIN,
        script: (usage) => ({ "*": [FAILURE, { usage }] }),
      });
      const [failing] = failover;
      if (failing !== undefined)
        add("first provider fails", {
          outcome: "retried",
          usage: PLAIN,
          script: (usage) => ({ [failing]: FAILURE, "*": { usage } }),
        });
    }
  for (const dialect of dialects)
    cases.push({
      what: `${dialect}, non-streaming, provider interrupts its reply`,
      outcome: "failed",
      dialect,
      mode: "non-streaming",
      script: (usage) => ({ "*": { usage, break: { how: "reset", at: 1 } } }),
    });
  for (const model of otherModels.slice(0, MAX_MODELS))
    cases.push({
      what: `model ${model}`,
      outcome: "served",
      dialect: first,
      mode: "non-streaming",
      model,
      usage: PLAIN,
    });
  if (!hasIds) return inOrder(cases);
  for (const dialect of dialects) {
    const stream = { dialect, mode: "streaming", outcome: "uncertain", usage: { output: 40 } } as const;
    cases.push({
      ...stream,
      what: `${dialect}, the caller disconnects from a stream`,
      leaves: true,
      script: (usage) => ({ "*": { usage, pieces: 40, gapMs: 40 } }),
    });
    cases.push({
      ...stream,
      what: `${dialect}, the provider interrupts a stream`,
      script: (usage) => ({ "*": { usage, pieces: 40, break: { how: "reset", at: 12 } } }),
    });
  }
  return inOrder(cases);
}

const ORDER: readonly RequestOutcome[] = ["served", "retried", "failed", "uncertain"];

/** After failures a gateway may pause its providers, so what should be served comes first. */
const inOrder = (cases: readonly Case[]): readonly Case[] =>
  ORDER.flatMap((outcome) => cases.filter((one) => one.outcome === outcome));

const FAILURE = { error: { status: 503 } } as const;

/** The counts as a provider reports them. */
export function scriptedUsage(tokens: Tokens): JsonObject {
  const { input, cachedInput, cacheWrite5m, cacheWrite1h, output, reasoning } = tokens;
  return { input, cached: cachedInput, cacheWrite5m, cacheWrite1h, output, reasoning };
}

/** The request of a case. Streams of the chat dialect request their usage, so that the caller sees it, too. */
export function requestOf({ dialect, mode, outcome }: Case): RequestSpec {
  const requestsUsage = dialect === "chat" && mode === "streaming";
  return {
    endpoint: dialect,
    mode,
    // A gateway that has begun to relay a reply can only close the connection when its provider interrupts it.
    intent: outcome === "failed" || outcome === "uncertain" ? "invalid" : "any",
    // A repetition would be another charge.
    repeats: false,
    ...(requestsUsage ? { fields: { stream_options: { include_usage: true } } } : {}),
  };
}

/** The cases for a target. */
export function casesOf(target: Session["target"]): readonly Case[] {
  const { ledger, upstream, dialects, models } = target;
  const plain = dialects.map((dialect) => upstream?.models[dialect] ?? models[dialect].plain);
  return casesFor({
    dialects,
    failover: upstream !== undefined && upstream.failover.length > 1 ? upstream.failover : [],
    otherModels: Object.keys(ledger?.prices ?? {}).filter((model) => !plain.includes(model)),
    hasIds:
      ledger?.fields.requests === undefined && ledger?.fields.requestId !== undefined && ledger.responseId.length > 0,
  });
}
