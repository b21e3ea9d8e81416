import type { RequestSpec, Response, Session } from "../../src/checks/index.ts";
import type { Dialect } from "../../src/dialects/index.ts";
import type { TokenSpend } from "../../src/limits/index.ts";
import type { Key, TokenLimits } from "../../src/target/index.ts";

type Counts = TokenLimits["counts"];

/** Target size of a request, with the minimum and maximum number of tokens that it takes from the limit. */
export type Size = {
  readonly words: number;
  readonly maxTokens: number;
  readonly least: number;
  readonly most: number;
};

/** Prompt and completion tokens from a reply's usage, in the fields of either dialect. */
function usageOf({ reply: { usage } }: Response): { readonly prompt: number; readonly completion: number } | undefined {
  const prompt = usage?.["prompt_tokens"] ?? usage?.["input_tokens"];
  const completion = usage?.["completion_tokens"] ?? usage?.["output_tokens"];
  return prompt === undefined || completion === undefined ? undefined : { prompt, completion };
}

/** Estimates of a prompt differ from its token count by at most this factor, as far as we know. */
const ESTIMATE = 2;

/**
 * Tokens that a served request took from the limit. The tokens used by the reply certainly count; until its end, and a while
 * longer, a gateway may reserve the maximum output.
 *
 * @returns `undefined` if the reply does not state its usage.
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

/** Output tokens of requests whose prompt alone counts: some models reject fewer. */
const FEW_TOKENS = 16;
/** Words of requests whose reservation alone counts. */
const FEW_WORDS = 10;
/**
 * A request with about this share of the limit shows how many tokens a word has, and how much of its maximum output a model uses.
 */
const PROBE_SHARE = 1 / 20;

/** The size of the first request, when nothing is known yet; a word counts as one token. */
export function probeSize({ tokensPerMinute, counts }: Pick<TokenLimits, "tokensPerMinute" | "counts">): Size {
  const half = Math.max(FEW_WORDS, Math.round((tokensPerMinute * PROBE_SHARE) / 2));
  const most = counts === "prompt" ? half : half * 2;
  return { words: half, maxTokens: counts === "prompt" ? FEW_TOKENS : half, least: most, most };
}

/**
 * The size of a request that takes at most this many tokens from the limit.
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

/** Words that are one token each for most models. */
const WORDS = "one two three four five six seven eight nine ten".split(" ");

/** A unique request of a size: a cache hit may count for nothing. */
export async function requestOf(t: Session, key: Key, endpoint: Dialect, size: Size): Promise<RequestSpec> {
  const words = Array.from({ length: Math.max(0, size.words - 3) }, (_, at) => WORDS[at % WORDS.length]);
  const prompt = `Please repeat: ${t.nonce()} ${words.join(" ")}`.trim();
  // A model that repeats the prompt certainly uses its maximum output.
  const model = (await t.hasModel("echo", endpoint)) ? "echo" : "plain";
  return { key, endpoint, model, prompt, maxTokens: size.maxTokens, intent: "any" };
}
