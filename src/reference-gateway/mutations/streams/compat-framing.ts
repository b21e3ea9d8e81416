import { isObject } from "../../../core/index.ts";
import { grid, type Mutation, mutation } from "../../change.ts";
import { parcelHeader } from "../../edits/replies/response-edits.ts";
import { changeData } from "../../edits/replies/stream-edits.ts";
import { both, nonStreaming, onChat, streaming } from "../../edits/when.ts";
import { type EventEdit, eachEvent, onEvents, onParcel, onSteps, type StepsEdit, wrap } from "../../edits/wrap.ts";
import { dataText } from "../../encode/event-frame.ts";
import type { StreamEvent } from "../../pipeline/response.ts";

/** An event after the end marker. */
const late = (data: unknown): StreamEvent => ({ kind: "other", atMs: 0, tokens: 0, data });

/** Framing and labels of chunks that clients of the chat dialect rely on. */
export const COMPAT_FRAMING_MUTATIONS: readonly Mutation[] = [
  mutation("compat.chat-stream-labelled-json", {
    breaks: ["COMPAT-CONTENT-TYPE"],
    summary: "Streams are labelled as JSON.",
    apply: onParcel(
      both(onChat, streaming, (call) => call.refused === undefined),
      parcelHeader("Content-Type", "application/json"),
    ),
  }),
  mutation("compat.chat-non-streaming-labelled-stream", {
    breaks: ["COMPAT-CONTENT-TYPE"],
    summary: "Non-streaming replies are labelled as an event stream.",
    apply: onParcel(both(onChat, nonStreaming), parcelHeader("Content-Type", "text/event-stream")),
  }),
  mutation("compat.chat-non-streaming-labelled-text", {
    breaks: ["COMPAT-CONTENT-TYPE"],
    summary: "Non-streaming replies are labelled as plain text.",
    apply: onParcel(both(onChat, nonStreaming), parcelHeader("Content-Type", "text/plain; charset=utf-8")),
  }),
  mutation("compat.chat-stream-without-type", {
    breaks: ["COMPAT-CONTENT-TYPE"],
    summary: "Streams have no content type.",
    apply: onParcel(both(onChat, streaming), (parcel) => ({
      ...parcel,
      headers: parcel.headers.filter(([name]) => name !== "Content-Type"),
    })),
  }),
  ...grid(["COMPAT-FRAMING"], (edit: StepsEdit) => onSteps(onChat, edit), {
    "compat.chat-ping-as-data": {
      summary: "Keep-alives are sent as data that is not JSON.",
      with: (steps) =>
        steps.flatMap((step, at) =>
          at === 1 ? [{ ...step, bytes: "data: : keep-alive\n\n", tokens: 0 }, step] : [step],
        ),
    },
    "compat.chat-frames-on-one-line": {
      breaks: ["COMPAT-FRAMING", "STREAM-4"],
      summary: "Two events in the middle of a stream are on one line.",
      with: (steps) =>
        steps.map((step, at) =>
          at === steps.length >> 1 ? { ...step, bytes: String(step.bytes).replace(/\n\n$/, "") } : step,
        ),
    },
    "compat.chat-last-event-unfinished": {
      summary: "The last event of a stream lacks its final blank line.",
      with: (steps) =>
        steps.map((step, at) => (at === steps.length - 1 ? { ...step, bytes: String(step.bytes).trimEnd() } : step)),
    },
  }),
  mutation("compat.chat-json-over-lines", {
    breaks: ["COMPAT-FRAMING", "STREAM-4"],
    summary: "The JSON of events spans several lines, and only the first is marked as data.",
    apply: wrap(
      "frame",
      (next) => (event, call) =>
        onChat(call) && isObject(event.data) ? `data: ${JSON.stringify(event.data, null, 1)}\n\n` : next(event, call),
    ),
  }),
  mutation("compat.chat-single-line-feeds", {
    breaks: ["COMPAT-FRAMING", "STREAM-4"],
    summary: "Events are separated by one line feed instead of a blank line.",
    apply: wrap(
      "frame",
      (next) => (event, call) => (onChat(call) ? `data: ${dataText(event, call)}\n` : next(event, call)),
    ),
  }),
  mutation("compat.chat-field-in-capitals", {
    breaks: ["COMPAT-FRAMING", "STREAM-4"],
    summary: "The field name of events is in upper case, which the format does not allow.",
    apply: wrap(
      "frame",
      (next) => (event, call) => (onChat(call) ? next(event, call).replace(/^data:/, "DATA:") : next(event, call)),
    ),
  }),
  ...grid(["COMPAT-CHAT-DONE"], (edit: EventEdit) => eachEvent(onChat, ["done"], edit), {
    "compat.chat-done-twice": { summary: "Streams send the end marker twice.", with: (event) => [event, event] },
    "compat.chat-done-as-json": {
      breaks: ["COMPAT-CHAT-DONE", "COMPAT-FRAMING"],
      summary: "The end marker is a JSON string.",
      with: changeData(() => '"[DONE]"'),
    },
    "compat.chat-no-done": { summary: "Streams have no end marker.", with: () => undefined },
  }),
  mutation("compat.chat-done-before-usage", {
    breaks: ["COMPAT-CHAT-DONE", "COMPAT-CHAT-USAGE"],
    summary: "The end marker comes before the usage chunk.",
    apply: onEvents(onChat, (events) => [
      ...events.filter((event) => event.kind !== "usage"),
      ...events.filter((event) => event.kind === "usage"),
    ]),
  }),
  mutation("compat.chat-data-after-done", {
    breaks: ["COMPAT-CHAT-DONE"],
    summary: "A chunk with statistics follows the end marker.",
    apply: onEvents(onChat, (events) => {
      const endMs = events.at(-1)?.atMs ?? 0;
      return [...events, { ...late({ object: "stats", choices: [], latency_ms: 12 }), atMs: endMs }];
    }),
    mayBreak: ["COMPAT-CHAT-CHUNKS", "COMPAT-REPLY-ID"],
  }),
];
