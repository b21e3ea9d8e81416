import { EventStreamDecoder, type StreamItem } from "../event-stream.ts";
import { parseJson, scanJsonObjects } from "../json-values.ts";
import { errorIn, finishOf, isEndMarker } from "./reply-defect.ts";
import { outputOf } from "./reply-output.ts";

/** How a streamed body is split into items. The specification requires none of them (STREAM-5). */
export type Framing = "event-stream" | "json-objects" | "single-json" | "text" | "empty";

/** One item of a stream: an event, or an object of a body without event framing. */
export interface StreamEvent {
  readonly name: string | undefined;
  readonly raw: string;
  /** Parsed data; `undefined` if it is not JSON. */
  readonly json: unknown;
  /** Byte offsets in the decoded body. */
  readonly start: number;
  readonly end: number;
}

export interface StreamPiece {
  readonly text: string;
  /** Byte offset at which the piece was complete. */
  readonly end: number;
}

/** A streamed body, read without assuming a chunk shape. Never throws and loses no byte. */
export interface StreamReading {
  readonly framing: Framing;
  readonly events: readonly StreamEvent[];
  readonly comments: number;
  /** Bytes outside complete items: a truncated line, stray text. */
  readonly strayBytes: number;
  /** Non-empty pieces of reply text, in order. */
  readonly pieces: readonly StreamPiece[];
  /** Joined reply text; `undefined` if no item had a text field, so that nothing can be said about it. */
  readonly text: string | undefined;
  /** Items with output of any kind. */
  readonly outputs: number;
  /** Error objects found in the stream, in order. */
  readonly errors: readonly unknown[];
  /** End markers of either dialect (`[DONE]`, `message_stop`) and the position of the first among the events. */
  readonly endMarkers: number;
  readonly firstMarkerIndex: number;
  /** Values of `finish_reason` or `stop_reason` that are strings. */
  readonly finishReasons: readonly string[];
}

const EVENT_DATA = /^(?:data|event)(?::|$)/;
const EVENT_FIELD = /^(?:data|event|id|retry)(?::|$)|^:/;

export function readStream(body: Uint8Array): StreamReading {
  if (body.every((byte) => byte <= 32)) return summarize("empty", [], 0, 0);
  if (looksLikeEvents(body)) {
    const { events, comments, stray } = readEvents(body);
    return summarize("event-stream", events, comments, stray);
  }
  const { pieces, strayBytes } = scanJsonObjects(body);
  const decoder = new TextDecoder();
  const events = pieces.map(({ value, start, end }) => ({
    name: undefined,
    raw: decoder.decode(body.subarray(start, end)),
    json: value,
    start,
    end,
  }));
  if (events.length === 0) return summarize("text", [], 0, strayBytes);
  return summarize(events.length === 1 ? "single-json" : "json-objects", events, 0, strayBytes);
}

/** Bytes decoded in one step: a body may consist of a million comments. */
const SLICE = 64 * 1024;
/** Maximum number of events; later ones are stray. The largest possible body has room for forty thousand real ones. */
const MAX_EVENTS = 50_000;

function readEvents(body: Uint8Array): { events: StreamEvent[]; comments: number; stray: number } {
  const decoder = new EventStreamDecoder();
  const events: StreamEvent[] = [];
  let comments = 0;
  let stray = 0;
  const take = (item: StreamItem) => {
    if (item.kind === "comment") comments++;
    else if (item.kind !== "event" || events.length >= MAX_EVENTS) stray += item.end - item.start;
    else {
      const { name, data, start, end } = item;
      const last = events.at(-1);
      // Consecutive equal events share one parsed value, so that a flood of them takes little memory.
      const { raw, json } = last?.raw === data ? last : { raw: data, json: parseJson(data) };
      events.push({ name, raw, json, start, end });
    }
  };
  for (let at = 0; at < body.length; at += SLICE)
    for (const item of decoder.feed(body.subarray(at, at + SLICE))) take(item);
  for (const item of decoder.end()) take(item);
  return { events, comments, stray };
}

/** Does not trust the content type: event streams arrive labelled as JSON, and JSON labelled as an event stream. */
function looksLikeEvents(body: Uint8Array): boolean {
  // The decoder removes a byte order mark.
  const head = new TextDecoder().decode(body.subarray(0, 64 * 1024));
  const lines = head.split(/\r\n|\r|\n/).filter((line) => line !== "");
  // Unknown fields may come first. No line of a JSON text begins with a bare word and a colon.
  return lines.some((line, at) => (at === 0 ? EVENT_FIELD : EVENT_DATA).test(line));
}

function summarize(framing: Framing, events: StreamEvent[], comments: number, strayBytes: number): StreamReading {
  const pieces: StreamPiece[] = [];
  const errors: unknown[] = [];
  const finishReasons: string[] = [];
  let sawPlace = false;
  let outputs = 0;
  let endMarkers = 0;
  let firstMarkerIndex = -1;
  for (const [index, event] of events.entries()) {
    if (isEndMarker(event.raw, event.json)) {
      if (endMarkers === 0) firstMarkerIndex = index;
      endMarkers++;
      continue;
    }
    const error = errorIn(event.json, event.name);
    if (error !== undefined) errors.push(error);
    const { text, other } = outputOf(event.json);
    if (text !== undefined) sawPlace = true;
    if (text !== undefined && text !== "") pieces.push({ text, end: event.end });
    if ((text !== undefined && text !== "") || other) outputs++;
    for (const reason of finishOf(event.json)) finishReasons.push(reason);
  }
  const text = sawPlace ? pieces.map((piece) => piece.text).join("") : undefined;
  return {
    framing,
    events,
    comments,
    strayBytes,
    pieces,
    text,
    outputs,
    errors,
    endMarkers,
    firstMarkerIndex,
    finishReasons,
  };
}
