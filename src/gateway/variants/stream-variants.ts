import { dataText } from "../encode/event-frame.ts";
import { parcelHeader } from "../faults/answer-edits.ts";
import { type Variant, variant } from "../faults/fault.ts";
import { put } from "../faults/json-edits.ts";
import { changeData, editText, glue } from "../faults/stream-edits.ts";
import { both, onChat, onMessages, streaming, type When } from "../faults/when.ts";
import { type Apply, all, eachEvent, onEvents, onParcel, wrap } from "../faults/wrap.ts";
import type { Step, StreamEvent } from "../pipeline/answer.ts";
import type { Piece } from "../providers/plan.ts";
import { gzipSteps } from "./gzip-stream.ts";

const frames = (change: (frame: string) => string): Apply =>
  wrap("frame", (next) => (event, call) => change(next(event, call)));

const packed = (change: (steps: Iterable<Step>) => Iterable<Step>, when: When = () => true): Apply =>
  wrap("pack", (next) => (steps, call) => (when(call) ? change(next(steps, call)) : next(steps, call)));

function* split(steps: Iterable<Step>, sizes: readonly number[]): Generator<Step> {
  let turn = 0;
  for (const step of steps) {
    const bytes = Buffer.from(step.bytes as Uint8Array);
    for (let at = 0; at < bytes.length; ) {
      const size = sizes[turn % sizes.length] ?? 1;
      yield { ...step, bytes: bytes.subarray(at, at + size), tokens: at === 0 ? step.tokens : 0 };
      at += size;
      turn += 1;
    }
  }
}

/** Pairs of neighbouring steps together, at the time of the second. */
function* pairs(steps: Iterable<Step>): Generator<Step> {
  let held: Step | undefined;
  for (const step of steps) {
    if (held === undefined) held = step;
    else {
      yield glue([held, step]);
      held = undefined;
    }
  }
  if (held !== undefined) yield held;
}

/** A comment every so often while nothing else is sent. */
function* withComments(steps: Iterable<Step>, everyMs: number): Generator<Step> {
  let lastMs = 0;
  for (const step of steps) {
    while (step.atMs - lastMs > everyMs) {
      lastMs += everyMs;
      yield { atMs: lastMs, bytes: ": keep-alive\n\n", tokens: 0 };
    }
    lastMs = step.atMs;
    yield step;
  }
}

const gzipAsked: When = (call) => /\bgzip\b(?!;q=0)/.test(String(call.arrival.headers["accept-encoding"] ?? ""));
const chatStream = both(onChat, streaming, (call) => call.refused === undefined);

/** Text pieces put together in groups; the slots of time stay, so that the reply takes as long as before. */
const coarse = (per: number): Apply =>
  wrap("plan", (next) => (model, ask, call) => {
    const plan = next(model, ask, call);
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

/** One event per character; the first stands for the tokens. */
function letters(event: StreamEvent): StreamEvent[] {
  const found: string[] = [];
  editText(event, (text) => {
    found.push(...text);
    return text;
  });
  return found.map((letter, at) => ({ ...editText(event, () => letter), tokens: at === 0 ? event.tokens : 0 }));
}

/** Ways of sending the same stream. */
export const STREAM_VARIANTS: readonly Variant[] = [
  variant(
    "stream.crlf",
    "Lines of events end with carriage return and line feed.",
    frames((frame) => frame.replaceAll("\n", "\r\n")),
  ),
  variant(
    "stream.cr",
    "Lines of events end with a carriage return.",
    frames((frame) => frame.replaceAll("\n", "\r")),
  ),
  variant(
    "stream.mixed-line-ends",
    "Line ends of events differ within one stream.",
    wrap(
      "frame",
      (next) => (event, call) => (event.tokens === 0 ? next(event, call) : next(event, call).replaceAll("\n", "\r\n")),
    ),
  ),
  variant(
    "stream.no-space",
    "There is no space behind the colon of a field.",
    frames((frame) => frame.replace(/^(event|data): /gm, "$1:")),
  ),
  variant(
    "stream.comments",
    "Comment lines stand between and inside events.",
    frames((frame) => `: comment ☃\n${frame.replace(/^data:/m, ":inside\ndata:")}:\n\n`),
  ),
  variant(
    "stream.keep-alives",
    "Comments are sent while the provider is silent.",
    packed((steps) => withComments(steps, 20)),
  ),
  variant(
    "stream.retry-and-id-fields",
    "Events have ids, and the stream says how soon to reconnect.",
    wrap("frame", (next) => (event, call) => `id: ${event.atMs}\nretry: 3000\n${next(event, call)}`),
  ),
  variant(
    "stream.unknown-fields",
    "Events have fields that the format does not know.",
    frames((frame) => `trace: abc\nempty\n${frame}`),
  ),
  variant(
    "stream.byte-order-mark",
    "The stream begins with a byte order mark.",
    packed(function* (steps) {
      let first = true;
      for (const step of steps) {
        yield first
          ? { ...step, bytes: Buffer.concat([Buffer.from("\ufeff"), Buffer.from(step.bytes as Uint8Array)]) }
          : step;
        first = false;
      }
    }),
  ),
  variant(
    "stream.data-over-lines",
    "The data of events is spread over several data lines.",
    wrap("frame", (next) => (event, call) => {
      if (typeof event.data === "string") return next(event, call);
      const lines = JSON.stringify(event.data, null, 1).split("\n");
      return `${event.name === undefined ? "" : `event: ${event.name}\n`}${lines.map((line) => `data: ${line}\n`).join("")}\n`;
    }),
  ),
  variant(
    "stream.empty-lines-between",
    "Several empty lines stand between events.",
    frames((frame) => `${frame}\n\n`),
  ),
  variant(
    "stream.one-byte-writes",
    "Streams are written byte by byte.",
    packed((steps) => split(steps, [1])),
  ),
  variant(
    "stream.cut-at-odd-places",
    "Streams are cut in the middle of lines and characters.",
    packed((steps) => split(steps, [17, 3, 29, 1, 7, 53])),
  ),
  variant("stream.events-in-pairs", "Two events come together.", packed(pairs)),
  variant(
    "stream.gzip",
    "Streams are compressed when the client accepts it, each event flushed.",
    all(
      packed(gzipSteps, gzipAsked),
      onParcel(both(streaming, gzipAsked), (parcel) =>
        parcel.body.kind === "steps" ? parcelHeader("Content-Encoding", "gzip")(parcel) : parcel,
      ),
    ),
  ),
  variant(
    "stream.type-without-charset",
    "The content type of streams names no charset.",
    onParcel(streaming, (parcel) =>
      parcel.body.kind === "steps" ? parcelHeader("Content-Type", "text/event-stream")(parcel) : parcel,
    ),
  ),
  variant(
    "stream.chat-events-named",
    "Chat chunks have an event name.",
    onEvents(onChat, (events) => events.map((event) => ({ ...event, name: "message" }))),
  ),
  variant(
    "stream.messages-pings",
    "Pings stand between the events of messages streams.",
    eachEvent(onMessages, ["text"], (event) => [
      { kind: "other", atMs: event.atMs, tokens: 0, name: "ping", data: { type: "ping" } },
      event,
    ]),
  ),
  variant(
    "stream.messages-unknown-events",
    "Events that nobody knows stand between those of messages streams.",
    eachEvent(onMessages, ["blockStop"], (event) => [
      event,
      { kind: "other", atMs: event.atMs, tokens: 0, name: "vendor_notice", data: { type: "vendor_notice", note: "…" } },
    ]),
  ),
  variant(
    "stream.no-done",
    "Chat streams have no end marker.",
    eachEvent(onChat, ["done"], () => undefined),
    ["compat:chat-done"],
  ),
  variant(
    "stream.no-usage",
    "Chat streams have no usage, asked for or not.",
    eachEvent(onChat, ["usage"], () => undefined),
    ["compat:chat-usage"],
  ),
  variant(
    "stream.usage-always",
    "Chat streams end with usage, asked for or not.",
    wrap("readAsk", (next) => (call) => {
      const ask = next(call);
      return "reason" in ask || !onChat(call) ? ask : { ...ask, includeUsage: true };
    }),
  ),
  variant(
    "stream.role-in-every-chunk",
    "Every chunk of a chat stream names the role.",
    eachEvent(onChat, ["text"], changeData(put("choices.0.delta.role", "assistant"))),
  ),
  variant(
    "stream.empty-choices",
    "Chunks with empty choices stand in chat streams.",
    eachEvent(onChat, ["open"], (event) => [changeData(put("choices", []))(event), event]),
  ),
  variant(
    "stream.empty-increments",
    "The first increments of a stream are empty.",
    eachEvent(
      () => true,
      ["text"],
      (event, index) => (index === 0 ? [empty(event), empty(event), event] : event),
    ),
  ),
  variant(
    "stream.finish-with-last-text",
    "The last increment of a chat stream carries the finish reason.",
    onEvents(onChat, (events) => {
      const last = events.findLast((event) => event.kind === "text");
      const finish = events.find((event) => event.kind === "finish");
      if (last === undefined || finish === undefined) return events;
      return events.flatMap((event) =>
        event === last ? [changeData(put("choices.0.finish_reason", "stop"))(event)] : event === finish ? [] : [event],
      );
    }),
    ["compat:chat-finish"],
  ),
  variant(
    "stream.reasoning-first",
    "Reasoning stands before the text of chat streams, in a field of its own.",
    eachEvent(onChat, ["open"], (event) => [
      event,
      changeData(put("choices.0.delta", { reasoning_content: "Let me think…", reasoning: "Let me think…" }))(event),
    ]),
  ),
  variant(
    "stream.json-lines",
    "Chat streams are lines of JSON without event-stream framing.",
    all(
      wrap(
        "frame",
        (next) => (event, call) =>
          onChat(call) ? (event.kind === "done" ? "" : `${dataText(event, call)}\n`) : next(event, call),
      ),
      onParcel(chatStream, (parcel) =>
        parcel.body.kind === "steps" ? parcelHeader("Content-Type", "application/x-ndjson")(parcel) : parcel,
      ),
    ),
    ["compat:chat-done", "compat:content-type", "compat:event-framing"],
  ),
  variant(
    "stream.json-documents",
    "Chat streams are JSON documents with nothing but line breaks between them, labelled as JSON.",
    all(
      wrap(
        "frame",
        (next) => (event, call) =>
          onChat(call) ? (event.kind === "done" ? "" : `${JSON.stringify(event.data, null, 1)}\n`) : next(event, call),
      ),
      onParcel(chatStream, (parcel) =>
        parcel.body.kind === "steps" ? parcelHeader("Content-Type", "application/stream+json")(parcel) : parcel,
      ),
    ),
    ["compat:chat-done", "compat:content-type", "compat:event-framing"],
  ),
  variant("stream.coarse", "Four pieces come as one.", coarse(4)),
  variant(
    "stream.fine",
    "Every character is an increment of its own.",
    eachEvent(
      () => true,
      ["text"],
      (event) => letters(event),
    ),
  ),
  variant(
    "stream.no-transform",
    "Streams forbid transformation and buffering on the way.",
    onParcel(streaming, (parcel) =>
      parcel.body.kind === "steps"
        ? parcelHeader("Cache-Control", "no-store, no-transform")(parcelHeader("X-Accel-Buffering", "no")(parcel))
        : parcel,
    ),
  ),
];
