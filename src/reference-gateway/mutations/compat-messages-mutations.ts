import { type Mutation, mutation } from "../change.ts";
import { drop, put } from "../edits/replies/json-edits.ts";
import { parcelHeader } from "../edits/replies/response-edits.ts";
import { changeData } from "../edits/replies/stream-edits.ts";
import { both, onMessages, streaming } from "../edits/when.ts";
import { type Apply, all, eachEvent, onEvents, onParcel, onReply, onServed, wrap } from "../edits/wrap.ts";
import type { EventKind } from "../pipeline/response.ts";

const on = (kinds: readonly EventKind[], edit: (data: unknown) => unknown): Apply =>
  eachEvent(onMessages, kinds, changeData(edit));
const without = (...kinds: readonly EventKind[]): Apply => eachEvent(onMessages, kinds, () => undefined);

const ORDER = ["COMPAT-MSG-EVENTS"];

/** What clients of the messages dialect need beyond the specification: events, their names, order and fields. */
export const COMPAT_MESSAGES_MUTATIONS: readonly Mutation[] = [
  mutation("compat.messages-no-start", ORDER, "Streams have no message_start.", without("open")),
  mutation(
    "compat.messages-start-twice",
    ORDER,
    "Streams send message_start twice.",
    eachEvent(onMessages, ["open"], (event) => [event, event]),
  ),
  mutation(
    "compat.messages-stop-reason-hides-cut",
    ["COMPAT-MSG-REPLY"],
    "A reply truncated by max_tokens has the stop reason end_turn.",
    wrap("plan", (next) => (model, request, call) => {
      const plan = next(model, request, call);
      return onMessages(call) && plan.kind === "reply" && plan.stop === "length" ? { ...plan, stop: "stop" } : plan;
    }),
  ),
  mutation("compat.messages-no-block-start", ORDER, "Streams have no content_block_start.", without("blockStart")),
  mutation("compat.messages-no-block-stop", ORDER, "Streams have no content_block_stop.", without("blockStop")),
  mutation(
    "compat.messages-no-delta",
    ["COMPAT-MSG-EVENTS", "COMPAT-MSG-REPLY", "COMPAT-USAGE"],
    "Streams have no message_delta.",
    without("finish"),
  ),
  mutation("compat.messages-no-stop", ORDER, "Streams have no message_stop.", without("done")),
  mutation(
    "compat.messages-stop-twice",
    ORDER,
    "Streams send message_stop twice.",
    eachEvent(onMessages, ["done"], (event) => [event, event]),
  ),
  mutation(
    "compat.messages-block-before-start",
    ORDER,
    "The first block starts before message_start.",
    onEvents(onMessages, (events) => {
      const [open, block, ...rest] = events;
      return open === undefined || block === undefined ? events : [block, open, ...rest];
    }),
  ),
  mutation(
    "compat.messages-delta-after-block",
    ORDER,
    "The last delta comes after its block has stopped.",
    onEvents(onMessages, (events) => {
      const stop = events.findLastIndex((event) => event.kind === "blockStop");
      const before = events[stop - 1];
      const after = events[stop];
      if (before === undefined || after === undefined) return events;
      return [...events.slice(0, stop - 1), after, before, ...events.slice(stop + 1)];
    }),
  ),
  mutation(
    "compat.messages-stop-before-delta",
    ORDER,
    "message_stop comes before message_delta.",
    onEvents(onMessages, (events) => [
      ...events.filter((event) => event.kind !== "finish"),
      ...events.filter((event) => event.kind === "finish"),
    ]),
  ),
  mutation(
    "compat.messages-index-from-one",
    ["COMPAT-MSG-EVENTS"],
    "Block indexes start at 1.",
    on(
      ["blockStart", "text", "toolStart", "toolInput", "blockStop"],
      put("index", (index: unknown) => Number(index) + 1),
    ),
  ),
  mutation(
    "compat.messages-index-missing",
    ["COMPAT-MSG-EVENTS"],
    "Deltas have no block index.",
    on(["text", "toolInput"], drop("index")),
  ),
  mutation(
    "compat.messages-names-missing",
    ["COMPAT-MSG-EVENTS"],
    "Events have no name.",
    eachEvent(
      onMessages,
      ["open", "blockStart", "text", "toolStart", "toolInput", "blockStop", "finish", "done", "error"],
      (event) => ({ ...event, name: undefined }),
    ),
  ),
  mutation(
    "compat.messages-names-all-message",
    ["COMPAT-MSG-EVENTS"],
    "Every event is named message.",
    eachEvent(
      onMessages,
      ["open", "blockStart", "text", "toolStart", "toolInput", "blockStop", "finish", "done"],
      (event) => ({ ...event, name: "message" }),
    ),
  ),
  mutation(
    "compat.messages-types-missing",
    ["COMPAT-MSG-EVENTS"],
    "The data of events has no type.",
    on(["open", "blockStart", "text", "blockStop", "finish", "done"], drop("type")),
  ),
  mutation(
    "compat.messages-done-marker",
    ["COMPAT-MSG-EVENTS"],
    "Streams end with the other dialect's end marker.",
    onEvents(onMessages, (events) => [
      ...events,
      { kind: "other", atMs: events.at(-1)?.atMs ?? 0, tokens: 0, data: "[DONE]" },
    ]),
  ),
  mutation(
    "compat.messages-delta-type",
    ["COMPAT-MSG-EVENTS"],
    "Deltas are not labelled as text.",
    on(["text"], drop("delta.type")),
  ),
  mutation(
    "compat.messages-text-in-start",
    ["COMPAT-MSG-EVENTS", "STREAM-4"],
    "The first delta is also in content_block_start.",
    onEvents(onMessages, (events) => {
      const first = events.find((event) => event.kind === "text");
      const text = (first?.data as { delta?: { text?: string } } | undefined)?.delta?.text ?? "";
      return events.map((event) =>
        event.kind === "blockStart" ? changeData(put("content_block.text", text))(event) : event,
      );
    }),
  ),
  mutation(
    "compat.messages-stop-reason-missing",
    ["COMPAT-MSG-REPLY", "COMPAT-MSG-EVENTS"],
    "Streams have no stop reason.",
    on(["finish"], put("delta.stop_reason", null)),
  ),
  mutation(
    "compat.messages-stop-reason-foreign",
    ["COMPAT-MSG-REPLY", "COMPAT-MSG-EVENTS"],
    "The stop reason is the other dialect's value.",
    all(on(["finish"], put("delta.stop_reason", "stop")), onReply(onMessages, put("stop_reason", "stop"))),
  ),
  mutation(
    "compat.messages-stop-reason-missing-non-streaming",
    ["COMPAT-MSG-REPLY", "COMPAT-MSG-EVENTS"],
    "Non-streaming replies have no stop reason.",
    onReply(onMessages, drop("stop_reason")),
  ),
  mutation(
    "compat.messages-no-usage-at-start",
    ["COMPAT-USAGE"],
    "message_start has no usage.",
    on(["open"], drop("message.usage")),
  ),
  mutation(
    "compat.messages-zero-input-tokens",
    ["COMPAT-USAGE"],
    "message_start reports no input tokens.",
    on(["open"], put("message.usage.input_tokens", 0)),
  ),
  mutation(
    "compat.messages-no-usage-at-end",
    ["COMPAT-USAGE"],
    "message_delta has no usage.",
    on(["finish"], drop("usage")),
  ),
  mutation(
    "compat.messages-output-per-event",
    ["COMPAT-USAGE"],
    "message_delta counts only the tokens of the last delta.",
    on(["finish"], put("usage.output_tokens", 1)),
  ),
  mutation(
    "compat.messages-type-missing",
    ["COMPAT-MSG-REPLY"],
    "Non-streaming replies have no type.",
    onReply(onMessages, drop("type")),
  ),
  mutation(
    "compat.messages-role-missing",
    ["COMPAT-MSG-REPLY"],
    "Non-streaming replies have no role.",
    onReply(onMessages, drop("role")),
  ),
  mutation(
    "compat.messages-block-type-missing",
    ["COMPAT-MSG-REPLY"],
    "Text blocks are not labelled as text.",
    onReply(onMessages, drop("content.0.type")),
  ),
  mutation(
    "compat.messages-id-constant",
    ["COMPAT-REPLY-ID"],
    "Every reply has the same id.",
    all(onReply(onMessages, put("id", "msg_0")), on(["open"], put("message.id", "msg_0"))),
  ),
  mutation(
    "compat.messages-stream-labelled-json",
    ["COMPAT-CONTENT-TYPE"],
    "Streams are labelled as JSON.",
    onParcel(
      both(onMessages, streaming, (call) => call.refused === undefined),
      parcelHeader("Content-Type", "application/json"),
    ),
  ),
  mutation(
    "compat.messages-stream-as-json",
    ["COMPAT-MSG-EVENTS", "COMPAT-MSG-STREAM", "COMPAT-FRAMING", "COMPAT-CONTENT-TYPE"],
    "A streaming request gets the events as one JSON array.",
    onServed(both(onMessages, streaming), (response) =>
      response.body.kind === "events"
        ? { ...response, body: { kind: "json", value: [...response.body.events].map((event) => event.data) } }
        : response,
    ),
  ),
];
