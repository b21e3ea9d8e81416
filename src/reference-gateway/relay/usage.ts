import { member } from "../../core/index.ts";

/** Tokens of a request by kind. Those read from and written to a cache are part of the input, reasoning is part of the output. */
export interface Usage {
  readonly inputTokens: number;
  readonly cachedTokens: number;
  /** Written to a cache for five minutes. */
  readonly cacheWrite5mTokens: number;
  /** Written to a cache for an hour. */
  readonly cacheWrite1hTokens: number;
  readonly outputTokens: number;
  readonly reasoningTokens: number;
}

export const NO_USAGE: Usage = {
  inputTokens: 0,
  cachedTokens: 0,
  cacheWrite5mTokens: 0,
  cacheWrite1hTokens: 0,
  outputTokens: 0,
  reasoningTokens: 0,
};

/** Usage of a reply, or of an event of a stream, in either dialect; `undefined` if it has none. */
export function usageOf(value: unknown): Partial<Usage> | undefined {
  const usage = member(value, "usage") ?? member(member(value, "message"), "usage");
  const input = countOf(usage, "prompt_tokens") ?? inputOfMessages(usage);
  const output = countOf(usage, "completion_tokens") ?? countOf(usage, "output_tokens");
  if (input === undefined && output === undefined) return undefined;
  const reasoning = countOf(member(usage, "completion_tokens_details"), "reasoning_tokens");
  return {
    ...(input === undefined ? {} : { inputTokens: input, ...cacheUsageOf(usage) }),
    ...(output === undefined ? {} : { outputTokens: output }),
    ...(reasoning === undefined ? {} : { reasoningTokens: reasoning }),
  };
}

function cacheUsageOf(usage: unknown): Partial<Usage> {
  const created = member(usage, "cache_creation");
  const write1h = countOf(created, "ephemeral_1h_input_tokens") ?? 0;
  // Without the split, all of it has the default lifetime.
  const write5m =
    countOf(created, "ephemeral_5m_input_tokens") ??
    Math.max(0, (countOf(usage, "cache_creation_input_tokens") ?? 0) - write1h);
  const cached =
    countOf(usage, "cache_read_input_tokens") ?? countOf(member(usage, "prompt_tokens_details"), "cached_tokens") ?? 0;
  return { cachedTokens: cached, cacheWrite5mTokens: write5m, cacheWrite1hTokens: write1h };
}

/** The messages dialect reports cache reads and cache writes separately from the other input tokens. */
function inputOfMessages(usage: unknown): number | undefined {
  const input = countOf(usage, "input_tokens");
  if (input === undefined) return undefined;
  return (
    input + (countOf(usage, "cache_read_input_tokens") ?? 0) + (countOf(usage, "cache_creation_input_tokens") ?? 0)
  );
}

function countOf(usage: unknown, name: string): number | undefined {
  const count = member(usage, name);
  return typeof count === "number" && Number.isSafeInteger(count) && count >= 0 ? count : undefined;
}
