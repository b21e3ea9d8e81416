import { isTimedOut, type Response } from "../../../src/checks/index.ts";
import {
  absent,
  anObject,
  filledString,
  success,
  that,
  tokenCounts,
  type Verdict,
} from "../../../src/judging/index.ts";
import type { MustRequirement } from "../../../src/requirements/index.ts";

/** Requirements under which a non-streaming reply is judged, by dialect. */
const REQUIREMENTS_OF = {
  chat: { accepted: "CHAT-1", text: "CHAT-2", usage: "CHAT-3" },
  messages: { accepted: "MSG-1", text: "MSG-2", usage: "MSG-3" },
} as const satisfies Record<string, Record<string, MustRequirement>>;

/**
 * Judges non-streaming replies. @param slow whether the slow model was requested; if the target has none, `replies` is empty.
 */
export function judgeReplies(verdict: Verdict, replies: readonly Response[], slow: boolean): void {
  if (replies.length === 0) verdict.notApplicable("the target has no slow model");
  if (slow && replies.some(({ exchange }) => isTimedOut(exchange)))
    verdict.inconclusive("the slow model is slower than the target's time-outs");
  for (const reply of replies) judgeNonStreamingReply(verdict, reply);
}

/**
 * Judges a non-streaming reply to a valid request: accepted, JSON, text in the expected field, token counts.
 *
 * @param because used in the messages instead of the summary.
 */
export function judgeNonStreamingReply(verdict: Verdict, response: Response, because = response.summary): void {
  const dialect = response.requested.endpoint === "messages" ? "messages" : "chat";
  const requirements = REQUIREMENTS_OF[dialect];
  const seen = { in: response, because };
  if (!verdict.must(requirements.accepted, response.status, success, { ...seen, at: "status" })) return;
  if (!verdict.must(requirements.accepted, response.json, anObject, { in: response, at: "" })) return;
  verdict.must(requirements.accepted, response.exchange.ending.kind, "complete", { ...seen, at: "ending" });
  const { text, parts, usage, textPointer } = response.reply;
  if (!leftWithoutText(verdict, response)) {
    verdict.must(requirements.text, parts, aListWithMembers, {
      in: response,
      at: dialect === "chat" ? "/choices" : "/content",
    });
    verdict.must(requirements.text, text, filledString, { in: response, at: textPointer });
  }
  verdict.must(requirements.usage, usage, tokenCounts, { in: response, at: "/usage" });
  verdict.must("ERR-200-1", response.reply.error, absent, { in: response, at: "/error" });
  if (dialect === "messages") {
    const json = response.json as Record<string, unknown>;
    verdict.must("MSG-1", json["choices"], absent, {
      in: response,
      at: "/choices",
      because: "not a chat-completions object",
    });
  }
}

const aListWithMembers = that("an array with at least one member", (value) => typeof value === "number" && value > 0);

/** Finish reasons that explain a reply without text: a model may spend its tokens on thinking, or refuse. */
const WITHOUT_TEXT: readonly unknown[] = ["length", "max_tokens", "content_filter", "refusal"];

/** Whether a reply has no text for a reason that it states: this says nothing about the gateway and is inconclusive. */
export function leftWithoutText(verdict: Verdict, { reply }: Response): boolean {
  const { text, finishReason } = reply;
  if (filledString.test(text) || !WITHOUT_TEXT.includes(finishReason)) return false;
  const why = `a reply ended with ${finishReason} before it had any text: name a model that does not think, or for less long`;
  verdict.markUndecided("inconclusive", why);
  return true;
}
