import { sleep } from "../core/index.ts";
import { type Dialect, MODES, toolsOf } from "../dialects/index.ts";
import type { ModelRole, Target } from "../target/index.ts";
import type { Held } from "./held-request.ts";
import type { RequestSpec } from "./request-spec.ts";
import type { Response } from "./response.ts";

/** How a model's role is verified. */
export interface RoleTrial {
  readonly target: Pick<Target, "models" | "dialects">;
  readonly send: (request: RequestSpec, dialect: Dialect) => Promise<Response>;
  /** Sends without waiting for the end. */
  readonly start: (request: RequestSpec, dialect: Dialect) => Held;
  readonly nonce: () => string;
}

type Verify = (trial: RoleTrial, role: ModelRole, dialect: Dialect) => Promise<string | undefined>;

interface Verification {
  /** Maximum number of requests, per dialect. */
  readonly requests: number;
  /** @returns what the model did instead, as text; `undefined` if it plays its role, or if its replies do not show it. */
  readonly verify: Verify;
}

/**
 * What a model must do before it counts as evidence against a gateway. Each role is verified with the simplest request that
 * shows it. A model does not know in which dialect or mode it was called: what it does in one, it can do in all, and the checks
 * judge a gateway that loses it in the others. Only if the model does it in none is the role not verified.
 */
const VERIFICATIONS: Readonly<Partial<Record<ModelRole, Verification>>> = {
  echo: { requests: 4, verify: verifyEcho },
  stream: { requests: 2, verify: verifyLongReply },
  slow: { requests: 1, verify: verifySlow },
  tools: { requests: 2, verify: verifyTools },
  upstreamError: { requests: 2, verify: verifyFailure },
  cutStream: { requests: 2, verify: verifyCut },
};

/** Maximum number of requests that verify a role in one dialect. */
export const verificationRequests = (role: string): number => VERIFICATIONS[role as ModelRole]?.requests ?? 0;

/** @returns what the model did instead of its role; `undefined` if it is verified. */
export async function verifyRole(trial: RoleTrial, role: ModelRole, dialect: Dialect): Promise<string | undefined> {
  const verification = VERIFICATIONS[role];
  const id = trial.target.models[dialect][role];
  const deviation = await verification?.verify(trial, role, dialect);
  return deviation === undefined ? undefined : `${id} ${deviation}`;
}

/** Maximum length of a reply in a message, characters. */
const SHOWN = 60;
const shown = (text: string): string => JSON.stringify(text.length > SHOWN ? `${text.slice(0, SHOWN)}…` : text);

/** A failure may be disguised as a reply whose text is an apology. */
const APOLOGY =
  /\b(errors?|fail(ed|ure|s)?|unavailable|unreachable|overloaded|timed out|timeout|try again|sorry|wrong|cannot|could not|upstream|provider|gateway|5\d\d)\b/i;

/** The text of a reply that ended normally. */
function textOf(response: Response): string | undefined {
  const text = response.admitted ? response.replyText?.trim() : undefined;
  return text === "" ? undefined : text;
}

async function verifyEcho({ send, target, nonce }: RoleTrial, role: ModelRole, dialect: Dialect) {
  const id = target.models[dialect][role];
  const same = target.dialects.filter((other) => target.models[other][role] === id);
  let deviation: string | undefined;
  for (const each of [dialect, ...same.filter((other) => other !== dialect)])
    for (const mode of MODES) {
      const prompt = `Please repeat this line: ${nonce()} one two three four five`;
      const response = await send({ model: role, mode, prompt, maxTokens: 256, intent: "either" }, each);
      const text = textOf(response);
      if (text === undefined || text === prompt) return undefined;
      deviation ??= `does not repeat its prompt exactly: it replied ${shown(text)} to ${shown(prompt)}`;
    }
  return deviation;
}

/** A reply is long if it has this much text, or is still in progress after this time, ms. */
const LONG = { characters: 200, ms: 1_000 };

async function verifyLongReply(trial: RoleTrial, role: ModelRole, dialect: Dialect) {
  let longest = "";
  for (const mode of MODES.toReversed()) {
    const request: RequestSpec = { model: role, mode, prompt: "Tell me a long story.", maxTokens: 1_024 };
    // Measured from the first byte: a slow provider does not make a reply long.
    const response = await endsWithin(trial, request, dialect, { ms: LONG.ms, from: "first-byte" });
    const text = response === undefined ? undefined : textOf(response);
    if (text === undefined || text.length >= LONG.characters) return undefined;
    longest = text.length > longest.length ? text : longest;
  }
  return `does not give a long reply: to a prompt for a long story, it replied ${shown(longest)} (${longest.length} characters) within ${LONG.ms} ms`;
}

/** Minimum duration of a slow reply, ms. */
const SLOW_MS = 1_000;

async function verifySlow(trial: RoleTrial, role: ModelRole, dialect: Dialect) {
  const response = await endsWithin(trial, { model: role, maxTokens: 256 }, dialect, { ms: SLOW_MS, from: "sent" });
  if (response === undefined || textOf(response) === undefined) return undefined;
  return `is not slow: its whole reply arrived after ${Math.round(response.durationMs)} ms`;
}

async function verifyTools({ send }: RoleTrial, role: ModelRole, dialect: Dialect) {
  const fields = { tools: toolsOf(dialect, { get_weather: "Current weather of a city" }) };
  let said = "";
  for (const mode of MODES) {
    const prompt = "What is the weather in Paris? Use the tool.";
    const response = await send({ model: role, mode, prompt, fields, maxTokens: 256, intent: "either" }, dialect);
    const text = textOf(response);
    if (text === undefined || /"(tool_calls|tool_use|function_call)"/.test(response.text)) return undefined;
    said ||= text;
  }
  return `does not call a tool: a request to use one got the reply ${shown(said)}`;
}

async function verifyFailure({ send }: RoleTrial, role: ModelRole, dialect: Dialect) {
  let said = "";
  for (const mode of MODES) {
    const response = await send({ model: role, mode, intent: "odd", maxTokens: 64, repeats: false }, dialect);
    const text = textOf(response);
    if (text === undefined || APOLOGY.test(text)) return undefined;
    said ||= text;
  }
  return `does not fail: it replied ${shown(said)}, streaming and non-streaming. Either its provider works, or the gateway falls back to another model`;
}

/** As long as the checks wait on a truncated stream, ms. */
const CUT_IDLE_MS = 12_000;

async function verifyCut({ send }: RoleTrial, role: ModelRole, dialect: Dialect) {
  const request: RequestSpec = { model: role, prompt: "Tell me a long story.", intent: "odd", repeats: false };
  const stream = await send({ ...request, mode: "streaming", bounds: { idleMs: CUT_IDLE_MS } }, dialect);
  const { finishReasons, endMarkers } = stream.stream;
  if (textOf(stream) === undefined || (finishReasons.length === 0 && endMarkers === 0)) return undefined;
  // A gateway may present a truncated stream as complete. A non-streaming request to a provider that disconnects fails.
  const text = textOf(await send({ ...request, mode: "non-streaming" }, dialect));
  if (text === undefined) return undefined;
  return `is not cut off: its stream was complete, and so was its non-streaming reply, ${shown(text)}`;
}

/** The response, if it arrives in time; otherwise the request is aborted. */
async function endsWithin(
  { start }: RoleTrial,
  request: RequestSpec,
  dialect: Dialect,
  { ms, from }: { readonly ms: number; readonly from: "sent" | "first-byte" },
): Promise<Response | undefined> {
  const held = start({ ...request, intent: "either" }, dialect);
  const over = new AbortController();
  const begun = from === "sent" ? Promise.resolve(true) : held.started;
  const late = begun.then(() => sleep(ms, over.signal)).then(() => undefined);
  try {
    const response = await Promise.race([held.done, late]);
    if (response === undefined) {
      held.abort();
      await held.done;
    }
    return response;
  } finally {
    over.abort();
  }
}
