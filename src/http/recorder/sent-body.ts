import { Readable } from "node:stream";
import type { RecordedRequest } from "./exchange.ts";

/**
 * Maximum number of bytes kept of a request body: we know what we sent, and one of 16 MB takes more memory than all the others.
 */
const MAX_SENT_BYTES = 256 * 1024;

/**
 * A body that consists mostly of filler text. It is generated while being sent: 16 MB as a string take four times their size on
 * the way through a prompt and a document to the socket.
 */
export interface FilledBody {
  readonly before: string;
  readonly fillBytes: number;
  readonly after: string;
}

const FILLER = "lorem ipsum ";
/** Filler per write. */
const BLOCK = Buffer.from(FILLER.repeat(5_000));

/** The bytes of a filled body, in order. */
export function* bytesOf({ before, fillBytes, after }: FilledBody): Generator<Uint8Array> {
  yield Buffer.from(before);
  for (let left = fillBytes; left > 0; left -= BLOCK.length)
    yield left < BLOCK.length ? BLOCK.subarray(0, left) : BLOCK;
  yield Buffer.from(after);
}

function lengthOf({ before, fillBytes, after }: FilledBody): number {
  return Buffer.byteLength(before) + fillBytes + Buffer.byteLength(after);
}

/** A filled body in the form that undici expects, with the header that states its length: without it, undici sends chunks. */
export function filledStream(body: FilledBody): {
  readonly stream: Readable;
  readonly header: readonly [string, string];
} {
  return { stream: Readable.from(bytesOf(body)), header: ["content-length", String(lengthOf(body))] };
}

export function isFilled(body: string | Uint8Array | FilledBody | undefined): body is FilledBody {
  return typeof body === "object" && "fillBytes" in body;
}

/** The whole body in one piece. */
export function wholeBody(body: string | Uint8Array | FilledBody): string | Uint8Array {
  return isFilled(body) ? Buffer.concat([...bytesOf(body)]) : body;
}

/** The recorded form of a request body: only the beginning if it is large. */
export function sentBody(
  body: string | Uint8Array | FilledBody | undefined,
): Pick<RecordedRequest, "body" | "bodyBytes" | "truncated"> {
  if (body === undefined) return { body, bodyBytes: 0 };
  const bodyBytes = isFilled(body) ? lengthOf(body) : Buffer.byteLength(body);
  if (typeof body === "string" && bodyBytes <= MAX_SENT_BYTES) return { body, bodyBytes };
  const text = startOf(body).subarray(0, MAX_SENT_BYTES).toString("utf8");
  return { body: text, bodyBytes, ...(bodyBytes > MAX_SENT_BYTES ? { truncated: true as const } : {}) };
}

/** Copies through bytes: a substring would keep the whole string in memory. */
function startOf(body: string | Uint8Array | FilledBody): Buffer {
  if (typeof body === "string") return Buffer.from(body.slice(0, MAX_SENT_BYTES));
  if (!isFilled(body)) return Buffer.from(body.subarray(0, MAX_SENT_BYTES));
  const start: Uint8Array[] = [];
  let length = 0;
  for (const bytes of bytesOf(body)) {
    start.push(bytes);
    length += bytes.length;
    if (length >= MAX_SENT_BYTES) break;
  }
  return Buffer.concat(start);
}
