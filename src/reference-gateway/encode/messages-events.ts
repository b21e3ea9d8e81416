import type { Call } from "../pipeline/behaviour.ts";
import { messagesError } from "../pipeline/refuse.ts";
import type { EventKind, StreamEvent } from "../pipeline/response.ts";
import { durationMs, type Piece, plannedTokens, type ReplyPlan } from "../providers/plan.ts";
import { BROKEN } from "./chat-events.ts";
import { messageHead, STOP_REASON } from "./messages-reply.ts";

/**
 * The events of a streamed reply of the messages dialect: message_start, then per block a start, its deltas and a
 * stop, then message_delta with the stop reason and message_stop.
 */
export function* messagesEvents(plan: ReplyPlan, call: Call): Generator<StreamEvent> {
  yield event("open", 0, "message_start", {
    message: {
      ...messageHead(call),
      content: [],
      stop_reason: null,
      stop_sequence: null,
      usage: { input_tokens: plan.inputTokens, output_tokens: 0 },
    },
  });
  let index = -1;
  for (let at = 0; at < plan.pieces.length; at += 1) {
    const piece = plan.pieces[at];
    const atMs = plan.firstMs + at * plan.paceMs;
    if (piece === undefined) break;
    if (at === plan.breaksAfter) {
      const data = messagesError(call.behaviour.upstreamRefusal(BROKEN, call), call);
      yield { kind: "error", atMs, name: "error", tokens: 0, data };
      return;
    }
    if (piece.kind === "toolStart" || index < 0) {
      if (index >= 0) yield event("blockStop", atMs, "content_block_stop", { index });
      index += 1;
      yield blockStart(piece, index, atMs);
    }
    if (piece.kind === "text") {
      yield delta("text", piece, index, atMs, { type: "text_delta", text: piece.text });
    } else if (piece.kind === "toolInput") {
      yield delta("toolInput", piece, index, atMs, { type: "input_json_delta", partial_json: piece.fragment });
    }
  }
  const endMs = durationMs(plan);
  if (index < 0) {
    index = 0;
    yield blockStart(undefined, index, endMs);
  }
  yield event("blockStop", endMs, "content_block_stop", { index });
  yield event("finish", endMs, "message_delta", {
    delta: { stop_reason: STOP_REASON[plan.stop], stop_sequence: null },
    usage: { output_tokens: plannedTokens(plan) },
  });
  yield event("done", endMs, "message_stop", {});
}

function event(kind: EventKind, atMs: number, name: string, fields: Record<string, unknown>, tokens = 0): StreamEvent {
  return { kind, atMs, name, tokens, data: { type: name, ...fields } };
}

function blockStart(piece: Piece | undefined, index: number, atMs: number): StreamEvent {
  if (piece?.kind !== "toolStart") {
    return event("blockStart", atMs, "content_block_start", { index, content_block: { type: "text", text: "" } });
  }
  const block = { type: "tool_use", id: piece.id.replace("call_", "toolu_"), name: piece.name, input: {} };
  return event("toolStart", atMs, "content_block_start", { index, content_block: block }, piece.tokens);
}

function delta(kind: EventKind, piece: Piece, index: number, atMs: number, change: unknown): StreamEvent {
  return event(kind, atMs, "content_block_delta", { index, delta: change }, piece.tokens);
}
