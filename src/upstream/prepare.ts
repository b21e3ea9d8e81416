import { errorBody, eventsOf, idOffsetIn, type ResponseParams, replyId, replyOf } from "./encode.ts";
import type { Behaviour } from "./scenario.ts";

/** Bytes of a response, and where the id of the reply is to be inserted. */
interface Encoded {
  readonly bytes: Buffer;
  readonly idOffsets: readonly number[];
}

/** An encoded response, ready to be written. */
export interface PreparedResponse {
  readonly status: number;
  /** Status line and fields, without `Date` and the empty line. */
  readonly head: string;
  /** Parts of the body, and when each is due after the head, ms. A non-streaming reply is one part. */
  readonly parts: readonly (Encoded & { readonly afterMs: number })[];
  /** All parts, if they have no delays and are small enough to need no flow control. */
  readonly whole: Encoded | undefined;
  readonly isStream: boolean;
}

/** Cached responses per behaviour: a client that invents model names must not fill the memory. */
const MAX_KEPT = 200;

/** Maximum size of one write, bytes. */
const MAX_AT_ONCE = 262_144;

const kept = new WeakMap<Behaviour, Map<string, PreparedResponse>>();

/** The response to a request; serialised once for identical requests. */
export function prepare(behaviour: Behaviour, requested: ResponseParams): PreparedResponse {
  const own = kept.get(behaviour) ?? new Map<string, PreparedResponse>();
  kept.set(behaviour, own);
  const key = `${requested.dialect}\n${requested.stream}\n${requested.includeUsage}\n${requested.model}`;
  const known = own.get(key);
  if (known !== undefined) return known;
  if (own.size >= MAX_KEPT) own.clear();
  const made = make(behaviour, requested);
  own.set(key, made);
  return made;
}

function make(behaviour: Behaviour, requested: ResponseParams): PreparedResponse {
  const { error } = behaviour;
  if (error !== undefined) {
    const { retryAfter } = error;
    return json(
      error.status,
      errorBody(error, requested.dialect),
      retryAfter === undefined ? "" : `retry-after: ${retryAfter}\r\n`,
    );
  }
  if (!requested.stream) return json(200, replyOf(behaviour, requested));
  let afterMs = 0;
  let pieces = 0;
  const events = eventsOf(behaviour, requested);
  const parts = events.map(({ text, isPiece }, index) => {
    if (isPiece) afterMs += pieces++ === 0 ? behaviour.firstTokenMs : behaviour.gapMs;
    return { ...encoded(chunkOf(text, index === events.length - 1)), afterMs };
  });
  const head =
    "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream; charset=utf-8\r\ncache-control: no-cache\r\ntransfer-encoding: chunked\r\n";
  const whole = afterMs > 0 ? undefined : wholeOf(parts);
  return { status: 200, head, parts, whole, isStream: true };
}

function wholeOf(parts: PreparedResponse["parts"]): Encoded | undefined {
  let total = 0;
  const idOffsets: number[] = [];
  for (const part of parts) {
    for (const offset of part.idOffsets) idOffsets.push(total + offset);
    total += part.bytes.length;
  }
  return total > MAX_AT_ONCE ? undefined : { bytes: Buffer.concat(parts.map(({ bytes }) => bytes)), idOffsets };
}

function encoded(bytes: Buffer): Encoded {
  const offset = idOffsetIn(bytes);
  return { bytes, idOffsets: offset === undefined ? [] : [offset] };
}

/** The bytes with the id of the reply to this request. */
export function withReplyId({ bytes, idOffsets }: Encoded, request: number): Buffer {
  if (idOffsets.length === 0) return bytes;
  const own = Buffer.from(bytes);
  const id = replyId(request);
  for (const offset of idOffsets) own.write(id, offset, "latin1");
  return own;
}

/** A response with a JSON body. @param fields further header fields, each with its line end. */
export function json(status: number, body: unknown, fields = ""): PreparedResponse {
  const bytes = Buffer.from(JSON.stringify(body));
  const head = `HTTP/1.1 ${status} ${REASONS[status] ?? "Error"}\r\ncontent-type: application/json\r\ncontent-length: ${bytes.length}\r\n${fields}`;
  const parts = [{ ...encoded(bytes), afterMs: 0 }];
  return { status, head, parts, whole: wholeOf(parts), isStream: false };
}

const REASONS: Readonly<Record<number, string>> = {
  200: "OK",
  400: "Bad Request",
  404: "Not Found",
  405: "Method Not Allowed",
  413: "Content Too Large",
  429: "Too Many Requests",
  431: "Request Header Fields Too Large",
  500: "Internal Server Error",
  503: "Service Unavailable",
};

function chunkOf(text: string, isLast: boolean): Buffer {
  const bytes = Buffer.from(text);
  return Buffer.concat([
    Buffer.from(`${bytes.length.toString(16)}\r\n`),
    bytes,
    Buffer.from(isLast ? "\r\n0\r\n\r\n" : "\r\n"),
  ]);
}
