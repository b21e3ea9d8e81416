import type { Call } from "../pipeline/behaviour.ts";
import { chatError } from "../pipeline/refuse.ts";
import type { EventKind, StreamEvent } from "../pipeline/response.ts";
import { durationMs, type ReplyPlan } from "../providers/plan.ts";
import { chatHead, chatUsage, FINISH_REASON } from "./chat-reply.ts";

/**
 * The chunks of a streamed chat reply: role, increments, finish reason, usage if requested, end marker. If the provider fails,
 * an error item ends the stream.
 */
export function* chatEvents(plan: ReplyPlan, call: Call): Generator<StreamEvent> {
  const head = chatHead(call, "chat.completion.chunk");
  // If usage is requested, every chunk has the field, and only the last one has a value.
  const usage = call.request?.includeUsage === true ? { usage: null } : {};
  const chunk = (kind: EventKind, atMs: number, delta: unknown, finishReason: string | null, tokens = 0) => ({
    kind,
    atMs,
    tokens,
    data: { ...head, choices: [{ index: 0, delta, logprobs: null, finish_reason: finishReason }], ...usage },
  });

  yield chunk("open", 0, { role: "assistant", content: "" }, null);
  let toolIndex = -1;
  for (let at = 0; at < plan.pieces.length; at += 1) {
    const piece = plan.pieces[at];
    const atMs = plan.firstMs + at * plan.paceMs;
    if (piece === undefined) break;
    if (at === plan.breaksAfter) {
      yield { kind: "error", atMs, tokens: 0, data: chatError(call.behaviour.upstreamRefusal(BROKEN, call)) };
      return;
    }
    if (piece.kind === "text") {
      yield chunk("text", atMs, { content: piece.text }, null, piece.tokens);
    } else if (piece.kind === "toolStart") {
      toolIndex += 1;
      const started = {
        index: toolIndex,
        id: piece.id,
        type: "function",
        function: { name: piece.name, arguments: "" },
      };
      yield chunk("toolStart", atMs, { tool_calls: [started] }, null, piece.tokens);
    } else {
      const fragment = { index: toolIndex, function: { arguments: piece.fragment } };
      yield chunk("toolInput", atMs, { tool_calls: [fragment] }, null, piece.tokens);
    }
  }
  const endMs = durationMs(plan);
  yield chunk("finish", endMs, {}, FINISH_REASON[plan.stop]);
  if (call.request?.includeUsage === true) {
    yield { kind: "usage", atMs: endMs, tokens: 0, data: { ...head, choices: [], usage: chatUsage(plan) } };
  }
  yield { kind: "done", atMs: endMs, tokens: 0, data: "[DONE]" };
}

export const BROKEN = { status: 502, body: "connection closed in the middle of the reply" } as const;
