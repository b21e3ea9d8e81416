import {
  type Behaviour,
  CHUNKED,
  chunk,
  EVENT,
  EVENTS_TYPE,
  flood,
  head,
  JSON_TYPE,
  reply,
  whole,
} from "../behaviour.ts";

/** Connections that end where none should, and incorrect lengths. */
export const ENDINGS: readonly Behaviour[] = [
  { name: "reset.at-connect", onConnect: (socket) => void socket.resetAndDestroy(), unreachable: true },
  { name: "close.at-connect", onConnect: (socket) => void socket.end(), unreachable: true },
  { name: "reset.before-head", respond: (socket) => void socket.resetAndDestroy(), unreachable: true },
  {
    name: "reset.inside-head",
    unreachable: true,
    respond: (socket) => void socket.write("HTTP/1.1 200 OK\r\ncontent-ty", () => socket.resetAndDestroy()),
  },
  {
    name: "reset.at-first-byte",
    respond: (socket) =>
      void socket.write(head("200 OK", JSON_TYPE, "content-length: 50"), () => socket.resetAndDestroy()),
  },
  {
    name: "reset.inside-body",
    respond: (socket) => void socket.write(whole(reply()).subarray(0, -20), () => socket.resetAndDestroy()),
  },
  {
    name: "reset.inside-chunk",
    respond: (socket) =>
      void socket.write(`${head("200 OK", EVENTS_TYPE, CHUNKED)}${chunk(EVENT)}40\r\ndata: {"a`, () =>
        socket.resetAndDestroy(),
      ),
  },
  {
    name: "reset.before-last-chunk",
    respond: (socket) =>
      void socket.write(`${head("200 OK", EVENTS_TYPE, CHUNKED)}${chunk(EVENT)}${chunk("data: [DONE]\n\n")}`, () =>
        socket.resetAndDestroy(),
      ),
  },
  { name: "early.response-before-request", onConnect: (socket) => void socket.write(whole(reply())) },
  {
    name: "early.flood-before-request",
    onConnect: (socket) => flood(socket, whole(reply())),
  },
  {
    name: "twice.two-responses-for-one",
    respond: (socket) => void socket.write(Buffer.concat([whole(reply()), whole(reply())])),
  },
  {
    name: "length.too-long",
    respond: (socket) => void socket.write(`${head("200 OK", JSON_TYPE, "content-length: 5000")}${reply()}`),
  },
  {
    name: "length.too-long-then-close",
    respond: (socket) => void socket.end(`${head("200 OK", JSON_TYPE, "content-length: 5000")}${reply()}`),
  },
  {
    name: "length.too-short",
    respond: (socket) => void socket.write(`${head("200 OK", JSON_TYPE, "content-length: 9")}${reply()}`),
  },
  {
    name: "length.negative",
    respond: (socket) => void socket.write(`${head("200 OK", "content-length: -1")}${reply()}`),
  },
  {
    name: "length.of-thirty-digits",
    respond: (socket) => void socket.write(`${head("200 OK", `content-length: ${"9".repeat(30)}`)}${reply()}`),
  },
  {
    name: "length.two-that-differ",
    respond: (socket) => void socket.write(`${head("200 OK", "content-length: 5", "content-length: 6")}${reply()}`),
  },
  {
    name: "length.and-chunks",
    respond: (socket) => void socket.write(`${head("200 OK", CHUNKED, "content-length: 5")}${chunk(reply())}0\r\n\r\n`),
  },
  {
    name: "chunk.size-no-number",
    respond: (socket) => void socket.write(`${head("200 OK", CHUNKED)}zz\r\n${reply()}\r\n0\r\n\r\n`),
  },
  {
    name: "chunk.size-negative",
    respond: (socket) => void socket.write(`${head("200 OK", CHUNKED)}-5\r\n${reply()}\r\n0\r\n\r\n`),
  },
  {
    name: "chunk.size-enormous",
    respond: (socket) => void socket.write(`${head("200 OK", CHUNKED)}ffffffffffffffff\r\n${reply()}\r\n0\r\n\r\n`),
  },
  {
    name: "chunk.size-too-large",
    respond: (socket) => void socket.write(`${head("200 OK", CHUNKED)}ffff\r\n${reply()}\r\n0\r\n\r\n`),
  },
  {
    name: "chunk.endless-extension",
    respond: (socket) => {
      socket.write(`${head("200 OK", CHUNKED)}5;a=`);
      flood(socket, Buffer.from("a".repeat(64 * 1024)));
    },
  },
  {
    name: "chunk.endless-trailers",
    respond: (socket) => {
      socket.write(`${head("200 OK", JSON_TYPE, CHUNKED)}${chunk(reply())}0\r\n`);
      flood(socket, Buffer.from(`x-filler: ${"a".repeat(1_000)}\r\n`.repeat(60)));
    },
  },
];
