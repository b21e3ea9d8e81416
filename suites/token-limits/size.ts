import type { RequestSpec, Response, Session } from "../../src/checks/index.ts";
import type { Dialect } from "../../src/dialects/index.ts";
import type { TokenSpend } from "../../src/limits/index.ts";
import type { Key, TokenLimits } from "../../src/target/index.ts";

type Counts = TokenLimits["counts"];

/** How large a request is to be, with the tokens that one of this size surely and possibly takes of the limit. */
export type Size = {
  readonly words: number;
  readonly maxTokens: number;
  readonly least: number;
  readonly most: number;
};

/** Prompt and completion tokens by the usage of a reply, in the words of either dialect. */
function usageOf({ reply: { usage } }: Response): { readonly prompt: number; readonly completion: number } | undefined {
  const prompt = usage?.["prompt_tokens"] ?? usage?.["input_tokens"];
  const completion = usage?.["completion_tokens"] ?? usage?.["output_tokens"];
  return prompt === undefined || completion === undefined ? undefined : { prompt, completion };
}

/** Estimates of a prompt differ from its tokens: by no more than this factor, as far as we know. */
const ESTIMATE = 2;

/**
 * Tokens that a served request took of the limit. What a reply used surely counts; until its end, and a while longer, a gateway may hold
 * back what it was allowed to use.
 *
 * @returns `undefined` where the reply does not tell its usage.
 */
export function spendOf(response: Response, counts: Counts, maxTokens: number): TokenSpend | undefined {
  const usage = usageOf(response);
  if (usage === undefined) return undefined;
  const { prompt, completion } = usage;
  const { sentUs, dueUs, endUs } = response.exchange.timeline;
  const moments = { sentUs: sentUs ?? dueUs, endUs };
  switch (counts) {
    case "total":
      return { ...moments, least: prompt + completion, most: prompt + Math.max(completion, maxTokens) };
    case "prompt":
      return { ...moments, least: prompt, most: prompt };
    case "reserved":
      return { ...moments, least: maxTokens, most: maxTokens + prompt * ESTIMATE };
  }
}

/** Output tokens of requests whose prompt alone counts: some models refuse fewer. */
const FEW_TOKENS = 16;
/** Words of requests whose reservation alone counts. */
const FEW_WORDS = 10;
/** A request of about this share of the limit tells how many tokens a word is, and how much of what it may say a model says. */
const PROBE_SHARE = 1 / 20;

/** The size of the first request, of which nothing is known yet; a word is taken for a token. */
export function probeSize({ tokensPerMinute, counts }: Pick<TokenLimits, "tokensPerMinute" | "counts">): Size {
  const half = Math.max(FEW_WORDS, Math.round((tokensPerMinute * PROBE_SHARE) / 2));
  const most = counts === "prompt" ? half : half * 2;
  return { words: half, maxTokens: counts === "prompt" ? FEW_TOKENS : half, least: most, most };
}

/**
 * The size of a request that possibly takes so many tokens of the limit.
 *
 * @param probe a served request of `probeSize`.
 */
export function sizeOf(most: number, probe: Response, limit: Pick<TokenLimits, "tokensPerMinute" | "counts">): Size {
  const probed = probeSize(limit);
  const { prompt, completion } = usageOf(probe) ?? { prompt: probed.words, completion: 0 };
  const perWord = prompt / probed.words;
  switch (limit.counts) {
    case "total": {
      const words = Math.max(1, Math.floor(most / 2 / perWord));
      const maxTokens = Math.max(1, Math.floor(most / 2));
      const said = Math.min(1, completion / probed.maxTokens);
      return { words, maxTokens, least: Math.floor(words * perWord + maxTokens * said), most };
    }
    case "prompt": {
      const words = Math.max(1, Math.floor(most / perWord));
      return { words, maxTokens: FEW_TOKENS, least: Math.floor(words * perWord), most };
    }
    case "reserved": {
      const maxTokens = Math.max(1, Math.floor(most - FEW_WORDS * perWord * ESTIMATE));
      return { words: FEW_WORDS, maxTokens, least: maxTokens, most };
    }
  }
}

/** Words that are one token each to most models. */
const WORDS = "one two three four five six seven eight nine ten".split(" ");

/** A request of a size, unlike any other: what is found in a cache may count for nothing. */
export async function requestOf(t: Session, key: Key, endpoint: Dialect, size: Size): Promise<RequestSpec> {
  const words = Array.from({ length: Math.max(0, size.words - 3) }, (_, at) => WORDS[at % WORDS.length]);
  const prompt = `Please repeat: ${t.nonce()} ${words.join(" ")}`.trim();
  // One that repeats the prompt is certain to use what it may.
  const model = (await t.hasModel("echo", endpoint)) ? "echo" : "plain";
  return { key, endpoint, model, prompt, maxTokens: size.maxTokens, intent: "either" };
}
