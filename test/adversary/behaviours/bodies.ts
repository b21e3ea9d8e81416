import type { Socket } from "node:net";
import { brotliCompressSync, constants, deflateSync, gzipSync } from "node:zlib";
import {
  type Behaviour,
  CHUNKED,
  chunk,
  drip,
  EVENT,
  EVENTS_TYPE,
  flood,
  head,
  JSON_TYPE,
  reply,
  whole,
} from "../behaviour.ts";

const KB64 = Buffer.from("a".repeat(64 * 1024));
const MIB = 1024 * 1024;

/** Created when first needed: a gigabyte of zeros in little more than a megabyte. */
function once(make: () => Buffer): () => Buffer {
  let made: Buffer | undefined;
  return () => {
    made ??= make();
    return made;
  };
}

const gzipBomb = once(() => {
  const member = gzipSync(Buffer.alloc(16 * MIB), { level: 9 });
  return Buffer.concat(Array.from({ length: 64 }, () => member));
});
const brotliBomb = once(() =>
  brotliCompressSync(Buffer.alloc(512 * MIB), { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } }),
);
const twiceBomb = once(() => gzipSync(gzipBomb()));
const deflateBomb = once(() => deflateSync(Buffer.alloc(128 * MIB), { level: 9 }));
const hundredMb = once(() => Buffer.alloc(100 * MIB, "e"));

/** Head and body separate, so that a large body is not copied for each response. */
function large(socket: Socket, body: Buffer, status: string, ...fields: string[]): void {
  socket.write(head(status, JSON_TYPE, `content-length: ${body.length}`, ...fields));
  socket.write(body);
}

const coded = (coding: string, body: () => Buffer, status = "200 OK") => ({
  respond: (socket: Socket) => large(socket, body(), status, `content-encoding: ${coding}`),
});

/** Bodies that are endless, too large, too slow, or compressed. */
export const BODIES: readonly Behaviour[] = [
  {
    name: "body.endless-by-length",
    respond: (socket) => {
      socket.write(head("200 OK", JSON_TYPE, "content-length: 1000000000000000"));
      flood(socket, KB64);
    },
  },
  {
    name: "body.endless-by-chunks",
    respond: (socket) => {
      socket.write(head("200 OK", JSON_TYPE, CHUNKED));
      flood(socket, chunk(KB64));
    },
  },
  {
    name: "body.endless-until-close",
    respond: (socket) => {
      socket.write(head("200 OK", JSON_TYPE));
      flood(socket, KB64);
    },
  },
  {
    name: "body.endless-one-byte-chunks",
    respond: (socket) => {
      socket.write(head("200 OK", EVENTS_TYPE, CHUNKED));
      flood(socket, Buffer.from("1\r\nx\r\n".repeat(10_000)));
    },
  },
  {
    name: "body.one-byte-per-second",
    respond: (socket) => {
      socket.write(head("200 OK", JSON_TYPE, "content-length: 100000"));
      drip(socket, reply());
    },
  },
  {
    name: "body.seven-megabytes",
    respond: (socket) => void socket.write(whole(`{"text":"${"é".repeat(3_600_000)}"}`)),
  },
  { name: "body.error-of-100-mb", respond: (socket) => large(socket, hundredMb(), "500 Broken") },
  {
    name: "body.denial-of-100-mb",
    respond: (socket) =>
      large(socket, hundredMb(), "429 No", "x-service-error-code: rate_limit_exceeded", "retry-after: 1"),
  },
  {
    name: "stream.endless-events",
    respond: (socket) => {
      socket.write(head("200 OK", EVENTS_TYPE, CHUNKED));
      flood(socket, chunk(EVENT.repeat(500)));
    },
  },
  {
    name: "stream.endless-tiny-events",
    respond: (socket) => {
      socket.write(head("200 OK", EVENTS_TYPE, CHUNKED));
      flood(socket, chunk("data:{}\n\n".repeat(5_000)));
    },
  },
  {
    name: "stream.endless-line",
    respond: (socket) => {
      socket.write(`${head("200 OK", EVENTS_TYPE, CHUNKED)}${chunk("data: ")}`);
      flood(socket, chunk(KB64));
    },
  },
  {
    name: "stream.endless-comments",
    respond: (socket) => {
      socket.write(head("200 OK", EVENTS_TYPE, CHUNKED));
      flood(socket, chunk(": keep-alive\n\n".repeat(4_000)));
    },
  },
  {
    name: "stream.one-byte-per-second",
    respond: (socket) => {
      socket.write(head("200 OK", EVENTS_TYPE));
      drip(socket, EVENT);
    },
  },
  {
    name: "stream.silent-after-first",
    respond: (socket) => void socket.write(`${head("200 OK", EVENTS_TYPE, CHUNKED)}${chunk(EVENT)}`),
  },
  { name: "bomb.gzip", ...coded("gzip", gzipBomb) },
  { name: "bomb.gzip-in-gzip", ...coded("gzip, gzip", twiceBomb) },
  { name: "bomb.brotli", ...coded("br", brotliBomb) },
  { name: "bomb.deflate", ...coded("deflate", deflateBomb) },
  { name: "bomb.gzip-denial", ...coded("gzip", gzipBomb, "429 No") },
  { name: "coding.a-hundred", ...coded(Array.from({ length: 100 }, () => "gzip").join(", "), () => gzipSync(reply())) },
  { name: "coding.garbage", ...coded("gzip", () => Buffer.from("this is not gzip at all")) },
  { name: "coding.cut", ...coded("gzip", () => gzipSync(reply().repeat(20)).subarray(0, 60)) },
  { name: "coding.unknown", ...coded("zstd-of-my-own", () => Buffer.from(reply())) },
];
