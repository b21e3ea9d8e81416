import { defineInvariant, type Response } from "../../src/checks/index.ts";
import { atPointer, isObject } from "../../src/core/index.ts";
import { oneOf, type Verdict } from "../../src/judging/index.ts";
import { inputTokensIn, outputTokensIn, tokenCountsOf } from "../shared/judge/token-counts.ts";

export const counts = defineInvariant({
  id: "robustness.counts",
  title: "Token counts are whole numbers that add up",
  covers: ["COUNTS-ADD-UP"],
  explains:
    "Checks the usage of every non-streaming reply: counts must be non-negative integers, and a total must be the sum of its parts. Replies with text to a unique prompt, including streams, must not count 0 input or output tokens. Bills are computed from these counts.",
  judge(responses, verdict) {
    const replies = responses.filter(
      (response) =>
        response.requested.endpoint !== "models" &&
        response.admitted &&
        !response.streamed &&
        response.reply.usage !== undefined,
    );
    if (replies.length === 0) return verdict.inconclusive("no reply carried counts");
    for (const response of replies) judgeUsage(response, verdict);
    judgeZeros(responses, verdict);
  },
});

/** No cache has a reply to a unique prompt: some input was read and some output generated for it. */
function hasUniquePrompt({ requested, exchange }: Response): boolean {
  return requested.nonce !== undefined && exchange.request.body?.includes(requested.nonce) === true;
}

function judgeZeros(responses: readonly Response[], verdict: Verdict): void {
  const counted = responses
    .filter(({ requested }) => requested.upstreamFails !== true)
    .filter((response) => hasUniquePrompt(response) && response.admitted && (response.replyText ?? "").trim() !== "")
    .map((response) => ({ response, counts: tokenCountsOf(response) }));
  for (const [what, count] of [
    ["input", inputTokensIn],
    ["output", outputTokensIn],
  ] as const) {
    const known = counted.filter(({ counts }) => count(counts) !== undefined);
    if (known.length === 0) continue;
    const zeros = known.filter(({ counts }) => count(counts) === 0);
    verdict.should("COUNTS-ADD-UP", zeros.length, 0, {
      in: zeros[0]?.response,
      at: "/usage",
      because: `replies (of ${known.length}) with text that count 0 ${what} tokens`,
    });
  }
}

function judgeUsage(response: Response, verdict: Verdict): void {
  const usage = isObject(response.json) ? response.json["usage"] : undefined;
  if (!isObject(usage)) return;
  const odd = Object.entries(usage).filter(
    ([name, value]) =>
      /tokens?$/.test(name) && value !== null && !(Number.isSafeInteger(value) && (value as number) >= 0),
  );
  verdict.should("COUNTS-ADD-UP", odd.length === 0 ? "whole numbers" : odd, "whole numbers", {
    in: response,
    at: "/usage",
  });
  const { prompt_tokens: prompt, completion_tokens: completion, total_tokens: total } = usage;
  if (typeof prompt === "number" && typeof completion === "number" && typeof total === "number") {
    // Some count the model's thinking only in the total.
    const thought = Number(atPointer(usage, "/completion_tokens_details/reasoning_tokens") ?? 0);
    const sums = [prompt + completion, prompt + completion + thought];
    verdict.should("COUNTS-ADD-UP", total, oneOf(...new Set(sums)), { in: response, at: "/usage/total_tokens" });
  }
}
