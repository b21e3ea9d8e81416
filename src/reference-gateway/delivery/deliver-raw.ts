import { STATUS_CODES } from "node:http";
import type { Socket } from "node:net";
import type { Call } from "../pipeline/behaviour.ts";
import type { Header, Parcel } from "../pipeline/response.ts";
import { withoutHeader } from "../pipeline/response.ts";
import { plannedTokens } from "../providers/plan.ts";
import { deliver } from "./deliver.ts";
import type { Delivery } from "./delivery.ts";
import { playSteps, type Sink } from "./play-steps.ts";
import type { Task } from "./scheduler.ts";

/** The wire format of a response that Node does not write. */
export interface RawFormat {
  /** Header lines of the head; `Date` and `Connection: close` are added if missing. */
  headers(parcel: Parcel): readonly Header[];
  /** Line ending of the head: line feed, or carriage return and line feed. */
  readonly lineEnd?: string;
  /** One piece of the body as sent. */
  piece(bytes: Buffer, index: number): Buffer | string;
  /** Sent after the last piece. */
  readonly last: string;
}

/** Chunked transfer coding (RFC 9112, 7.1), whose parts mutations can override. */
export const CHUNKED: RawFormat = {
  headers: ({ headers }) => [...withoutHeader(headers, "Content-Length"), ["Transfer-Encoding", "chunked"]],
  piece: (bytes) => Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from("\r\n")]),
  last: "0\r\n\r\n",
};

/** Plain bytes after the headers of the parcel. */
export const PLAIN: RawFormat = { headers: ({ headers }) => headers, piece: (bytes) => bytes, last: "" };

/** Writes a response byte by byte instead of through Node's HTTP, and then closes the connection. */
export function deliverRaw(parcel: Parcel, call: Call, delivery: Delivery, format: RawFormat): void {
  const { body } = parcel;
  // Relayed provider streams are passed through unchanged.
  if (body.kind === "relayed") {
    deliver(parcel, call, delivery);
    return;
  }
  const { response, closed } = delivery;
  const { scheduler } = call.services;
  const { socket } = response;
  let deliveredTokens = 0;
  let ended = false;
  let stopPlaying: () => void = () => {};
  let pieces = 0;

  const write = (bytes: string | Uint8Array) => {
    const piece = format.piece(Buffer.from(bytes as Uint8Array), pieces);
    pieces += 1;
    return socket?.write(piece);
  };
  const end = () => {
    ended = true;
    socket?.end(format.last);
  };
  const sink = sinkOf(socket, write, end);
  const send = () => {
    call.behaviour.began(call);
    socket?.write(headText(parcel, format));
    if (body.kind === "steps") {
      const delivered = (tokens: number) => {
        deliveredTokens += tokens;
      };
      const ending = () => {
        ended = true;
      };
      stopPlaying = playSteps(body, sink, scheduler, { delivered, ending });
      return;
    }
    deliveredTokens = call.plan?.kind === "reply" && parcel.status < 300 ? plannedTokens(call.plan) : 0;
    if (body.bytes.length > 0) write(body.bytes);
    end();
  };
  const task: Task = { dueMs: 0, run: send, waiting: false };
  const finish = () => {
    scheduler.cancel(task);
    stopPlaying();
    closed({ outcome: ended ? parcel.outcome : "interrupted", status: parcel.status, deliveredTokens });
  };
  if (socket === null || response.destroyed || response.closed) {
    finish();
    return;
  }
  response.once("close", finish);
  if (parcel.afterMs <= 0) send();
  else scheduler.schedule(task, performance.now() + parcel.afterMs);
}

/** A sink for {@link playSteps} that writes to the socket instead of Node's response. */
function sinkOf(socket: Socket | null, write: Sink["write"], end: Sink["end"]): Sink {
  return {
    socket,
    get writableLength() {
      return socket?.writableLength ?? 0;
    },
    flushHeaders: () => {},
    write,
    end,
    once: (event, listener) => socket?.once(event, listener),
    off: (event, listener) => socket?.off(event, listener),
  };
}

function headText(parcel: Parcel, format: RawFormat): string {
  const lineEnd = format.lineEnd ?? "\r\n";
  const headers = [...format.headers(parcel)];
  const named = new Set(headers.map(([name]) => name.toLowerCase()));
  if (!named.has("date")) headers.push(["Date", new Date().toUTCString()]);
  if (!named.has("connection")) headers.push(["Connection", "close"]);
  const lines = [`HTTP/1.1 ${parcel.status} ${STATUS_CODES[parcel.status] ?? ""}`];
  return [...lines, ...headers.map(([name, value]) => `${name}: ${value}`), "", ""].join(lineEnd);
}
