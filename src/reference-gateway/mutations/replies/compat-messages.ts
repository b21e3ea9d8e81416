import { grid, type Mutation, mutation } from "../../change.ts";
import { drop, put } from "../../edits/replies/json-edits.ts";
import { parcelHeader } from "../../edits/replies/response-edits.ts";
import { changeData } from "../../edits/replies/stream-edits.ts";
import { both, onMessages, streaming } from "../../edits/when.ts";
import {
  type Apply,
  all,
  type EventsEdit,
  eachEvent,
  onEvents,
  onParcel,
  onReply,
  onServed,
  type ReplyEdit,
  wrap,
} from "../../edits/wrap.ts";
import type { EventKind } from "../../pipeline/response.ts";

const on = (kinds: readonly EventKind[], edit: (data: unknown) => unknown): Apply =>
  eachEvent(onMessages, kinds, changeData(edit));
const without = (...kinds: readonly EventKind[]): Apply => eachEvent(onMessages, kinds, () => undefined);

const ORDER = ["COMPAT-MSG-EVENTS"];

/** What clients of the messages dialect need beyond the specification: events, their names, order and fields. */
export const COMPAT_MESSAGES_MUTATIONS: readonly Mutation[] = [
  ...grid(ORDER, without, {
    "compat.messages-no-start": { summary: "Streams have no message_start.", with: "open" },
    "compat.messages-no-block-start": { summary: "Streams have no content_block_start.", with: "blockStart" },
    "compat.messages-no-block-stop": { summary: "Streams have no content_block_stop.", with: "blockStop" },
    "compat.messages-no-delta": {
      breaks: ["COMPAT-MSG-EVENTS", "COMPAT-MSG-REPLY", "COMPAT-USAGE"],
      summary: "Streams have no message_delta.",
      with: "finish",
    },
    "compat.messages-no-stop": { summary: "Streams have no message_stop.", with: "done" },
  }),
  mutation("compat.messages-start-twice", {
    breaks: ORDER,
    summary: "Streams send message_start twice.",
    apply: eachEvent(onMessages, ["open"], (event) => [event, event]),
  }),
  mutation("compat.messages-stop-reason-hides-cut", {
    breaks: ["COMPAT-MSG-REPLY"],
    summary: "A reply truncated by max_tokens has the stop reason end_turn.",
    apply: wrap("plan", (next) => (model, request, call) => {
      const plan = next(model, request, call);
      return onMessages(call) && plan.kind === "reply" && plan.stop === "length" ? { ...plan, stop: "stop" } : plan;
    }),
  }),
  mutation("compat.messages-stop-twice", {
    breaks: ORDER,
    summary: "Streams send message_stop twice.",
    apply: eachEvent(onMessages, ["done"], (event) => [event, event]),
  }),
  ...grid(ORDER, (edit: EventsEdit) => onEvents(onMessages, edit), {
    "compat.messages-block-before-start": {
      summary: "The first block starts before message_start.",
      with: (events) => {
        const [open, block, ...rest] = events;
        return open === undefined || block === undefined ? events : [block, open, ...rest];
      },
    },
    "compat.messages-delta-after-block": {
      summary: "The last delta comes after its block has stopped.",
      with: (events) => {
        const stop = events.findLastIndex((event) => event.kind === "blockStop");
        const before = events[stop - 1];
        const after = events[stop];
        if (before === undefined || after === undefined) return events;
        return [...events.slice(0, stop - 1), after, before, ...events.slice(stop + 1)];
      },
    },
    "compat.messages-stop-before-delta": {
      summary: "message_stop comes before message_delta.",
      with: (events) => [
        ...events.filter((event) => event.kind !== "finish"),
        ...events.filter((event) => event.kind === "finish"),
      ],
    },
    "compat.messages-done-marker": {
      breaks: ["COMPAT-MSG-EVENTS", "COMPAT-FRAMING"],
      summary: "Streams end with the other dialect's end marker.",
      with: (events) => [...events, { kind: "other", atMs: events.at(-1)?.atMs ?? 0, tokens: 0, data: "[DONE]" }],
    },
    "compat.messages-text-in-start": {
      breaks: ["COMPAT-MSG-EVENTS", "STREAM-4"],
      summary: "The first delta is also in content_block_start.",
      with: (events) => {
        const first = events.find((event) => event.kind === "text");
        const text = (first?.data as { delta?: { text?: string } } | undefined)?.delta?.text ?? "";
        return events.map((event) =>
          event.kind === "blockStart" ? changeData(put("content_block.text", text))(event) : event,
        );
      },
    },
  }),
  mutation("compat.messages-index-from-one", {
    breaks: ORDER,
    summary: "Block indexes start at 1.",
    apply: on(
      ["blockStart", "text", "toolStart", "toolInput", "blockStop"],
      put("index", (index: unknown) => Number(index) + 1),
    ),
  }),
  mutation("compat.messages-index-missing", {
    breaks: ORDER,
    summary: "Deltas have no block index.",
    apply: on(["text", "toolInput"], drop("index")),
  }),
  mutation("compat.messages-names-missing", {
    breaks: ORDER,
    summary: "Events have no name.",
    apply: eachEvent(
      onMessages,
      ["open", "blockStart", "text", "toolStart", "toolInput", "blockStop", "finish", "done", "error"],
      (event) => ({ ...event, name: undefined }),
    ),
  }),
  mutation("compat.messages-names-all-message", {
    breaks: ORDER,
    summary: "Every event is named message.",
    apply: eachEvent(
      onMessages,
      ["open", "blockStart", "text", "toolStart", "toolInput", "blockStop", "finish", "done"],
      (event) => ({ ...event, name: "message" }),
    ),
  }),
  mutation("compat.messages-types-missing", {
    breaks: ORDER,
    summary: "The data of events has no type.",
    apply: on(["open", "blockStart", "text", "blockStop", "finish", "done"], drop("type")),
  }),
  mutation("compat.messages-delta-type", {
    breaks: ORDER,
    summary: "Deltas are not labelled as text.",
    apply: on(["text"], drop("delta.type")),
  }),
  mutation("compat.messages-stop-reason-missing", {
    breaks: ["COMPAT-MSG-REPLY", "COMPAT-MSG-EVENTS"],
    summary: "Streams have no stop reason.",
    apply: on(["finish"], put("delta.stop_reason", null)),
  }),
  mutation("compat.messages-stop-reason-foreign", {
    breaks: ["COMPAT-MSG-REPLY", "COMPAT-MSG-EVENTS"],
    summary: "The stop reason is the other dialect's value.",
    apply: all(on(["finish"], put("delta.stop_reason", "stop")), onReply(onMessages, put("stop_reason", "stop"))),
  }),
  ...grid(["COMPAT-MSG-REPLY"], (edit: ReplyEdit) => onReply(onMessages, edit), {
    "compat.messages-stop-reason-missing-non-streaming": {
      breaks: ["COMPAT-MSG-REPLY", "COMPAT-MSG-EVENTS"],
      summary: "Non-streaming replies have no stop reason.",
      with: drop("stop_reason"),
    },
    "compat.messages-type-missing": { summary: "Non-streaming replies have no type.", with: drop("type") },
    "compat.messages-role-missing": { summary: "Non-streaming replies have no role.", with: drop("role") },
    "compat.messages-block-type-missing": {
      summary: "Text blocks are not labelled as text.",
      with: drop("content.0.type"),
    },
  }),
  mutation("compat.messages-no-usage-at-start", {
    breaks: ["COMPAT-USAGE"],
    summary: "message_start has no usage.",
    apply: on(["open"], drop("message.usage")),
  }),
  mutation("compat.messages-zero-input-tokens", {
    breaks: ["COMPAT-USAGE"],
    summary: "message_start reports no input tokens.",
    apply: on(["open"], put("message.usage.input_tokens", 0)),
  }),
  mutation("compat.messages-no-usage-at-end", {
    breaks: ["COMPAT-USAGE"],
    summary: "message_delta has no usage.",
    apply: on(["finish"], drop("usage")),
  }),
  mutation("compat.messages-output-per-event", {
    breaks: ["COMPAT-USAGE"],
    summary: "message_delta counts only the tokens of the last delta.",
    apply: on(["finish"], put("usage.output_tokens", 1)),
  }),
  mutation("compat.messages-id-constant", {
    breaks: ["COMPAT-REPLY-ID"],
    summary: "Every reply has the same id.",
    apply: all(onReply(onMessages, put("id", "msg_0")), on(["open"], put("message.id", "msg_0"))),
  }),
  mutation("compat.messages-stream-labelled-json", {
    breaks: ["COMPAT-CONTENT-TYPE"],
    summary: "Streams are labelled as JSON.",
    apply: onParcel(
      both(onMessages, streaming, (call) => call.refused === undefined),
      parcelHeader("Content-Type", "application/json"),
    ),
  }),
  mutation("compat.messages-stream-as-json", {
    breaks: ["COMPAT-MSG-EVENTS", "COMPAT-MSG-STREAM", "COMPAT-FRAMING", "COMPAT-CONTENT-TYPE"],
    summary: "A streaming request gets the events as one JSON array.",
    apply: onServed(both(onMessages, streaming), (response) =>
      response.body.kind === "events"
        ? { ...response, body: { kind: "json", value: [...response.body.events].map((event) => event.data) } }
        : response,
    ),
    mayBreak: ["ERR-200-1", "MSG-3"],
  }),
];
