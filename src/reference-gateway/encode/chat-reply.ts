import type { Call } from "../pipeline/behaviour.ts";
import { plannedTokens, type ReplyPlan, type Stop } from "../providers/plan.ts";

export const FINISH_REASON = { stop: "stop", length: "length", tools: "tool_calls" } as const satisfies Record<
  Stop,
  string
>;

export interface ChatToolCall {
  readonly id: string;
  readonly type: "function";
  readonly function: { readonly name: string; readonly arguments: string };
}

/** A non-streaming reply of the chat dialect. */
export function chatReply(plan: ReplyPlan, call: Call): unknown {
  const calls = toolCalls(plan);
  const content = calls.length > 0 ? null : textOf(plan);
  return {
    ...chatHead(call, "chat.completion"),
    choices: [
      {
        index: 0,
        message: { role: "assistant", content, ...(calls.length > 0 ? { tool_calls: calls } : {}) },
        logprobs: null,
        finish_reason: FINISH_REASON[plan.stop],
      },
    ],
    usage: chatUsage(plan),
  };
}

/** The fields that a non-streaming reply and every chunk share. */
export function chatHead(call: Call, object: "chat.completion" | "chat.completion.chunk") {
  return {
    id: `chatcmpl-${call.id}`,
    object,
    created: Math.floor(call.arrival.arrivedMs / 1_000),
    model: call.request?.modelId ?? "",
  };
}

export function chatUsage(plan: ReplyPlan) {
  const completion = plannedTokens(plan);
  return {
    prompt_tokens: plan.inputTokens,
    completion_tokens: completion,
    total_tokens: plan.inputTokens + completion,
  };
}

export function textOf(plan: ReplyPlan): string {
  return plan.pieces.map((piece) => (piece.kind === "text" ? piece.text : "")).join("");
}

/** The tool calls of a plan, with their fragments joined. */
export function toolCalls(plan: ReplyPlan): ChatToolCall[] {
  const calls: { id: string; name: string; json: string }[] = [];
  for (const piece of plan.pieces) {
    if (piece.kind === "toolStart") calls.push({ id: piece.id, name: piece.name, json: "" });
    const current = calls.at(-1);
    if (piece.kind === "toolInput" && current !== undefined) current.json += piece.fragment;
  }
  return calls.map(({ id, name, json }) => ({ id, type: "function", function: { name, arguments: json } }));
}
