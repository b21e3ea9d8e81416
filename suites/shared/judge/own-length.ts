import { type Response, unblockLines } from "../../../src/checks/index.ts";
import type { Verdict } from "../../../src/judging/index.ts";
import { inputTokensIn, outputTokensIn, tokenCountsOf } from "./token-counts.ts";

/** Share of the text from which a reply counts as complete: tokens and characters are not proportional. */
const WHOLE = 0.9;
/** How far the share of tokens may exceed the share of characters. */
const SLACK = 1.25;

/**
 * Whether a reply that repeats only part of a text is everything that the model generated, according to its usage: then the
 * gateway lost nothing. `unknown` without usage. A model may have its own output limit, or shorten the text.
 *
 * @param expected the whole prompt.
 */
function isModelsOwnLength(response: Response, expected: string): boolean | "unknown" {
  const textShare = (response.replyText ?? "").length / expected.length;
  if (textShare >= WHOLE) return false;
  const counts = tokenCountsOf(response);
  const [prompt = 0, completion = 0] = [inputTokensIn(counts), outputTokensIn(counts)];
  if (prompt <= 0 || completion <= 0) return "unknown";
  return completion / prompt <= textShare * SLACK;
}

/**
 * Stops if the model itself shortens long texts, or may: then nothing shows what the gateway does with them.
 *
 * @param response repeats only a part.
 * @param replies to the same prompt, this one included.
 */
export function assumeWholeReply(
  verdict: Verdict,
  {
    response,
    expected,
    replies,
  }: { readonly response: Response; readonly expected: string; readonly replies: readonly Response[] },
): void {
  const text = response.replyText ?? "";
  // If text is missing in only one form of the same reply, the model did generate it.
  if (replies.some(({ replyText }) => (replyText?.length ?? 0) > text.length)) return;
  const isOwn = replies.map((reply) => isModelsOwnLength(reply, expected));
  if (isOwn.includes(false)) return;
  const evidence = isOwn.includes(true)
    ? "its usage counts no more than that"
    : "no usage shows whether the model or the gateway shortened it";
  verdict.missingFixture(
    `models.echo does not repeat long texts: it repeated ${text.length} of ${expected.length} characters, and ${evidence}`,
    unblockLines("model.echo"),
  );
}
