import type { Call } from "../pipeline/behaviour.ts";
import { plannedTokens, type ReplyPlan, type Stop } from "../providers/plan.ts";
import { textOf, toolCalls } from "./chat-reply.ts";

export const STOP_REASON = { stop: "end_turn", length: "max_tokens", tools: "tool_use" } as const satisfies Record<
  Stop,
  string
>;

/** A non-streaming reply of the messages dialect. */
export function messagesReply(plan: ReplyPlan, call: Call): unknown {
  const uses = toolCalls(plan).map((use) => ({
    type: "tool_use",
    id: use.id.replace("call_", "toolu_"),
    name: use.function.name,
    input: JSON.parse(use.function.arguments) as unknown,
  }));
  return {
    ...messageHead(call),
    content: uses.length > 0 ? uses : [{ type: "text", text: textOf(plan) }],
    stop_reason: STOP_REASON[plan.stop],
    stop_sequence: null,
    usage: { input_tokens: plan.inputTokens, output_tokens: plannedTokens(plan) },
  };
}

/** The fields that a non-streaming reply and the first event of a stream share. */
export function messageHead(call: Call) {
  return { id: `msg_${call.id}`, type: "message", role: "assistant", model: call.request?.modelId ?? "" };
}
