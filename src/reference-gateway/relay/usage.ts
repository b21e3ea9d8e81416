import { member } from "../../core/index.ts";

/** Tokens that a provider counted; cached input is part of the input. */
export interface Usage {
  readonly inputTokens: number;
  readonly outputTokens: number;
}

/** Usage of a reply, or of an event of a stream, in either dialect; `undefined` if it has none. */
export function usageOf(value: unknown): Partial<Usage> | undefined {
  const usage = member(value, "usage") ?? member(member(value, "message"), "usage");
  const input = countOf(usage, "prompt_tokens") ?? inputOfMessages(usage);
  const output = countOf(usage, "completion_tokens") ?? countOf(usage, "output_tokens");
  if (input === undefined && output === undefined) return undefined;
  return {
    ...(input === undefined ? {} : { inputTokens: input }),
    ...(output === undefined ? {} : { outputTokens: output }),
  };
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
