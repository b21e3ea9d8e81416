import { type Variant, variant } from "../../change.ts";
import { put } from "../../edits/replies/json-edits.ts";
import { changeData, editText } from "../../edits/replies/stream-edits.ts";
import { onChat, onMessages } from "../../edits/when.ts";
import { type Apply, eachEvent, onEvents, wrap } from "../../edits/wrap.ts";
import type { StreamEvent } from "../../pipeline/response.ts";
import type { Piece } from "../../providers/plan.ts";

/** Groups text pieces; their times stay, so that the reply takes as long as before. */
const coarse = (per: number): Apply =>
  wrap("plan", (next) => (model, request, call) => {
    const plan = next(model, request, call);
    if (plan.kind !== "reply" || plan.stop === "tools") return plan;
    const texts = plan.pieces.filter((piece) => piece.kind === "text");
    const groups: Piece[] = [];
    for (let at = 0; at < texts.length; at += per) {
      const group = texts.slice(at, at + per);
      groups.push({
        kind: "text",
        text: group.map((piece) => piece.text).join(""),
        tokens: group.reduce((sum, piece) => sum + piece.tokens, 0),
      });
    }
    const breaksAfter =
      plan.breaksAfter === undefined ? {} : { breaksAfter: Math.max(1, Math.floor(plan.breaksAfter / per)) };
    return { ...plan, ...breaksAfter, pieces: groups, paceMs: plan.paceMs * per };
  });

const empty = (event: StreamEvent): StreamEvent => ({ ...editText(event, () => ""), tokens: 0 });

/** One event per character; the first one counts all tokens. */
function letters(event: StreamEvent): StreamEvent[] {
  const found: string[] = [];
  editText(event, (text) => {
    found.push(...text);
    return text;
  });
  return found.map((letter, at) => ({ ...editText(event, () => letter), tokens: at === 0 ? event.tokens : 0 }));
}

/** Other chunks and events for the same stream. */
export const CHUNK_VARIANTS: readonly Variant[] = [
  variant(
    "stream.chat-events-named",
    "Chat chunks have an event name.",
    onEvents(onChat, (events) => events.map((event) => ({ ...event, name: "message" }))),
  ),
  variant(
    "stream.chunk-about-the-prompt-first",
    "Chat streams begin with an Azure-style chunk about the prompt: no choices and an empty id.",
    onEvents(onChat, (events) => [
      {
        kind: "other",
        atMs: events[0]?.atMs ?? 0,
        tokens: 0,
        data: {
          choices: [],
          created: 0,
          id: "",
          model: "",
          object: "",
          prompt_filter_results: [{ prompt_index: 0, content_filter_results: { hate: { filtered: false } } }],
        },
      },
      ...events,
    ]),
  ),
  variant(
    "stream.messages-pings",
    "Messages streams have pings between events.",
    eachEvent(onMessages, ["text"], (event) => [
      { kind: "other", atMs: event.atMs, tokens: 0, name: "ping", data: { type: "ping" } },
      event,
    ]),
  ),
  variant(
    "stream.messages-unknown-events",
    "Messages streams have unknown events between the others.",
    eachEvent(onMessages, ["blockStop"], (event) => [
      event,
      { kind: "other", atMs: event.atMs, tokens: 0, name: "vendor_notice", data: { type: "vendor_notice", note: "…" } },
    ]),
  ),
  variant(
    "stream.no-done",
    "Chat streams have no end marker.",
    eachEvent(onChat, ["done"], () => undefined),
    ["COMPAT-CHAT-DONE"],
  ),
  variant(
    "stream.no-usage",
    "Chat streams never have usage, requested or not.",
    eachEvent(onChat, ["usage"], () => undefined),
    ["COMPAT-CHAT-USAGE"],
  ),
  variant(
    "stream.usage-always",
    "Chat streams always end with usage, requested or not.",
    wrap("readRequest", (next) => (call) => {
      const request = next(call);
      return "reason" in request || !onChat(call) ? request : { ...request, includeUsage: true };
    }),
  ),
  variant(
    "stream.role-in-every-chunk",
    "Every chunk of a chat stream has the role.",
    eachEvent(onChat, ["text"], changeData(put("choices.0.delta.role", "assistant"))),
  ),
  variant(
    "stream.empty-choices",
    "Chat streams have chunks with empty choices.",
    eachEvent(onChat, ["open"], (event) => [changeData(put("choices", []))(event), event]),
  ),
  variant(
    "stream.empty-increments",
    "The first deltas of a stream are empty.",
    eachEvent(
      () => true,
      ["text"],
      (event, index) => (index === 0 ? [empty(event), empty(event), event] : event),
    ),
  ),
  variant(
    "stream.finish-with-last-text",
    "The last delta of a chat stream has the finish reason.",
    onEvents(onChat, (events) => {
      const last = events.findLast((event) => event.kind === "text");
      const finish = events.find((event) => event.kind === "finish");
      if (last === undefined || finish === undefined) return events;
      return events.flatMap((event) =>
        event === last ? [changeData(put("choices.0.finish_reason", "stop"))(event)] : event === finish ? [] : [event],
      );
    }),
    ["COMPAT-CHAT-FINISH", "COMPAT-CHAT-REPLY"],
  ),
  variant(
    "stream.reasoning-first",
    "Chat streams begin with reasoning, in a separate field.",
    eachEvent(onChat, ["open"], (event) => [
      event,
      changeData(put("choices.0.delta", { reasoning_content: "Let me think…", reasoning: "Let me think…" }))(event),
    ]),
  ),
  variant("stream.coarse", "Four deltas are sent as one.", coarse(4)),
  variant(
    "stream.fine",
    "Every character is a separate delta.",
    eachEvent(
      () => true,
      ["text"],
      (event) => letters(event),
    ),
  ),
];
