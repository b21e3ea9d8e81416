import { type Variant, variant } from "../../change.ts";
import { parcelHeader } from "../../edits/replies/response-edits.ts";
import { glue, oneEventPerText } from "../../edits/replies/stream-edits.ts";
import { both, onChat, streaming, type When } from "../../edits/when.ts";
import { type Apply, all, onParcel, wrap } from "../../edits/wrap.ts";
import { dataText } from "../../encode/event-frame.ts";
import type { Step } from "../../pipeline/response.ts";
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

/** Merges pairs of steps, at the time of the second. */
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

/** Sends a comment at intervals while nothing else is sent. */
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

const acceptsGzip: When = (call) => /\bgzip\b(?!;q=0)/.test(String(call.arrival.headers["accept-encoding"] ?? ""));
const chatStream = both(onChat, streaming, (call) => call.refused === undefined);

/** Other ways to send the same stream. */
export const STREAM_VARIANTS: readonly Variant[] = [
  variant("stream.one-event-per-text", "Texts that arrive together are one event, however long.", oneEventPerText),
  variant(
    "stream.crlf",
    "Event lines end with CRLF.",
    frames((frame) => frame.replaceAll("\n", "\r\n")),
  ),
  variant(
    "stream.cr",
    "Event lines end with CR.",
    frames((frame) => frame.replaceAll("\n", "\r")),
  ),
  variant(
    "stream.mixed-line-ends",
    "Event lines have mixed line endings within one stream.",
    wrap(
      "frame",
      (next) => (event, call) => (event.tokens === 0 ? next(event, call) : next(event, call).replaceAll("\n", "\r\n")),
    ),
  ),
  variant(
    "stream.no-space",
    "Fields have no space after the colon.",
    frames((frame) => frame.replace(/^(event|data): /gm, "$1:")),
  ),
  variant(
    "stream.comments",
    "Comment lines appear between and inside events.",
    frames((frame) => `: comment ☃\n${frame.replace(/^data:/m, ":inside\ndata:")}:\n\n`),
  ),
  variant(
    "stream.keep-alives",
    "Comments are sent while the provider is silent.",
    packed((steps) => withComments(steps, 20)),
  ),
  variant(
    "stream.retry-and-id-fields",
    "Events have ids, and the stream has a reconnection time.",
    wrap("frame", (next) => (event, call) => `id: ${event.atMs}\nretry: 3000\n${next(event, call)}`),
  ),
  variant(
    "stream.unknown-fields",
    "Events have unknown fields.",
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
    "The data of events spans several data lines.",
    wrap("frame", (next) => (event, call) => {
      if (typeof event.data === "string") return next(event, call);
      const lines = JSON.stringify(event.data, null, 1).split("\n");
      return `${event.name === undefined ? "" : `event: ${event.name}\n`}${lines.map((line) => `data: ${line}\n`).join("")}\n`;
    }),
  ),
  variant(
    "stream.empty-lines-between",
    "Events are separated by several blank lines.",
    frames((frame) => `${frame}\n\n`),
  ),
  variant(
    "stream.one-byte-writes",
    "Streams are written byte by byte.",
    packed((steps) => split(steps, [1])),
  ),
  variant(
    "stream.cut-at-unusual-places",
    "Streams are split in the middle of lines and characters.",
    packed((steps) => split(steps, [17, 3, 29, 1, 7, 53])),
  ),
  variant("stream.events-in-pairs", "Two events arrive together.", packed(pairs)),
  variant(
    "stream.gzip",
    "Streams are compressed if the client accepts it, with a flush after each event.",
    all(
      packed(gzipSteps, acceptsGzip),
      onParcel(both(streaming, acceptsGzip), (parcel) =>
        parcel.body.kind === "steps" ? parcelHeader("Content-Encoding", "gzip")(parcel) : parcel,
      ),
    ),
  ),
  variant(
    "stream.type-without-charset",
    "The content type of streams has no charset.",
    onParcel(streaming, (parcel) =>
      parcel.body.kind === "steps" ? parcelHeader("Content-Type", "text/event-stream")(parcel) : parcel,
    ),
  ),
  variant(
    "stream.json-lines",
    "Chat streams are JSON lines without event-stream framing.",
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
    ["COMPAT-CHAT-DONE", "COMPAT-CONTENT-TYPE", "COMPAT-FRAMING"],
  ),
  variant(
    "stream.json-documents",
    "Chat streams are JSON documents separated only by line breaks and labelled as JSON.",
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
    ["COMPAT-CHAT-DONE", "COMPAT-CONTENT-TYPE", "COMPAT-FRAMING"],
  ),
  variant(
    "stream.no-transform",
    "Streams forbid transformation and buffering by proxies.",
    onParcel(streaming, (parcel) =>
      parcel.body.kind === "steps"
        ? parcelHeader("Cache-Control", "no-store, no-transform")(parcelHeader("X-Accel-Buffering", "no")(parcel))
        : parcel,
    ),
  ),
];
