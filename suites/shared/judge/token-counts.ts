import type { Response } from "../../../src/checks/index.ts";
import { member } from "../../../src/core/index.ts";
import { countsOf } from "../../../src/dialects/index.ts";

export type TokenCounts = Readonly<Record<string, number>>;

/** The token counts of a reply, nested ones with dotted names. In a stream, later events replace earlier values. */
export function tokenCountsOf(response: Response): TokenCounts {
  if (!response.streamed) return response.reply.usage ?? {};
  const counts: Record<string, number> = {};
  for (const { json } of response.stream.events)
    Object.assign(counts, countsOf(member(member(json, "message"), "usage")), countsOf(member(json, "usage")));
  return counts;
}

/** Input tokens, including those read from and written to a provider's cache; the messages dialect counts these separately. */
export function inputTokensIn(counts: TokenCounts): number | undefined {
  const uncached = counts["input_tokens"] ?? counts["prompt_tokens"];
  const cached = ["cache_creation_input_tokens", "cache_read_input_tokens"].map((name) => counts[name] ?? 0);
  return uncached === undefined ? undefined : cached.reduce((sum, count) => sum + count, uncached);
}

export const outputTokensIn = (counts: TokenCounts): number | undefined =>
  counts["output_tokens"] ?? counts["completion_tokens"];
