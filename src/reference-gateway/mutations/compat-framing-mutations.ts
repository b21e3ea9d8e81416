import { isObject } from "../../core/index.ts";
import { type Mutation, mutation } from "../change.ts";
import { parcelHeader } from "../edits/replies/response-edits.ts";
import { changeData } from "../edits/replies/stream-edits.ts";
import { both, nonStreaming, onChat, streaming } from "../edits/when.ts";
import { eachEvent, onEvents, onParcel, onSteps, wrap } from "../edits/wrap.ts";
import { dataText } from "../encode/event-frame.ts";
import type { StreamEvent } from "../pipeline/response.ts";

/** An event after the end marker. */
const late = (data: unknown): StreamEvent => ({ kind: "other", atMs: 0, tokens: 0, data });

/** Framing and labels of chunks that clients of the chat dialect rely on. */
export const COMPAT_FRAMING_MUTATIONS: readonly Mutation[] = [
  mutation(
    "compat.chat-stream-labelled-json",
    ["COMPAT-CONTENT-TYPE"],
    "Streams are labelled as JSON.",
    onParcel(
      both(onChat, streaming, (call) => call.refused === undefined),
      parcelHeader("Content-Type", "application/json"),
    ),
  ),
  mutation(
    "compat.chat-non-streaming-labelled-stream",
    ["COMPAT-CONTENT-TYPE"],
    "Non-streaming replies are labelled as an event stream.",
    onParcel(both(onChat, nonStreaming), parcelHeader("Content-Type", "text/event-stream")),
  ),
  mutation(
    "compat.chat-non-streaming-labelled-text",
    ["COMPAT-CONTENT-TYPE"],
    "Non-streaming replies are labelled as plain text.",
    onParcel(both(onChat, nonStreaming), parcelHeader("Content-Type", "text/plain; charset=utf-8")),
  ),
  mutation(
    "compat.chat-stream-without-type",
    ["COMPAT-CONTENT-TYPE"],
    "Streams have no content type.",
    onParcel(both(onChat, streaming), (parcel) => ({
      ...parcel,
      headers: parcel.headers.filter(([name]) => name !== "Content-Type"),
    })),
  ),
  mutation(
    "compat.chat-ping-as-data",
    ["COMPAT-FRAMING"],
    "Keep-alives are sent as data that is not JSON.",
    onSteps(onChat, (steps) =>
      steps.flatMap((step, at) =>
        at === 1 ? [{ ...step, bytes: "data: : keep-alive\n\n", tokens: 0 }, step] : [step],
      ),
    ),
  ),
  mutation(
    "compat.chat-frames-on-one-line",
    ["COMPAT-FRAMING", "STREAM-4"],
    "Two events in the middle of a stream are on one line.",
    onSteps(onChat, (steps) =>
      steps.map((step, at) =>
        at === steps.length >> 1 ? { ...step, bytes: String(step.bytes).replace(/\n\n$/, "") } : step,
      ),
    ),
  ),
  mutation(
    "compat.chat-json-over-lines",
    ["COMPAT-FRAMING", "STREAM-4"],
    "The JSON of events spans several lines, and only the first is marked as data.",
    wrap(
      "frame",
      (next) => (event, call) =>
        onChat(call) && isObject(event.data) ? `data: ${JSON.stringify(event.data, null, 1)}\n\n` : next(event, call),
    ),
  ),
  mutation(
    "compat.chat-single-line-feeds",
    ["COMPAT-FRAMING", "STREAM-4"],
    "Events are separated by one line feed instead of a blank line.",
    wrap("frame", (next) => (event, call) => (onChat(call) ? `data: ${dataText(event, call)}\n` : next(event, call))),
  ),
  mutation(
    "compat.chat-field-in-capitals",
    ["COMPAT-FRAMING", "STREAM-4"],
    "The field name of events is in upper case, which the format does not allow.",
    wrap(
      "frame",
      (next) => (event, call) => (onChat(call) ? next(event, call).replace(/^data:/, "DATA:") : next(event, call)),
    ),
  ),
  mutation(
    "compat.chat-last-event-unfinished",
    ["COMPAT-FRAMING"],
    "The last event of a stream lacks its final blank line.",
    onSteps(onChat, (steps) =>
      steps.map((step, at) => (at === steps.length - 1 ? { ...step, bytes: String(step.bytes).trimEnd() } : step)),
    ),
  ),
  mutation(
    "compat.chat-done-twice",
    ["COMPAT-CHAT-DONE"],
    "Streams send the end marker twice.",
    eachEvent(onChat, ["done"], (event) => [event, event]),
  ),
  mutation(
    "compat.chat-done-as-json",
    ["COMPAT-CHAT-DONE", "COMPAT-FRAMING"],
    "The end marker is a JSON string.",
    eachEvent(
      onChat,
      ["done"],
      changeData(() => '"[DONE]"'),
    ),
  ),
  mutation(
    "compat.chat-done-before-usage",
    ["COMPAT-CHAT-DONE", "COMPAT-CHAT-USAGE"],
    "The end marker comes before the usage chunk.",
    onEvents(onChat, (events) => [
      ...events.filter((event) => event.kind !== "usage"),
      ...events.filter((event) => event.kind === "usage"),
    ]),
  ),
  mutation(
    "compat.chat-no-done",
    ["COMPAT-CHAT-DONE"],
    "Streams have no end marker.",
    eachEvent(onChat, ["done"], () => undefined),
  ),
  mutation(
    "compat.chat-data-after-done",
    ["COMPAT-CHAT-DONE"],
    "A chunk with statistics follows the end marker.",
    onEvents(onChat, (events) => {
      const endMs = events.at(-1)?.atMs ?? 0;
      return [...events, { ...late({ object: "stats", choices: [], latency_ms: 12 }), atMs: endMs }];
    }),
  ),
];
