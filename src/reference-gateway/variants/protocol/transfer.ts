import { type Variant, variant } from "../../change.ts";
import { CHUNKED, deliverRaw } from "../../delivery/deliver-raw.ts";
import { parcelHeader, parcelWithout } from "../../edits/replies/response-edits.ts";
import { always, remembered, withBody } from "../../edits/when.ts";
import { type Apply, all, onParcel, wrap } from "../../edits/wrap.ts";
import { encodeAs } from "../../encode/compress.ts";
import { refusal } from "../../pipeline/refusal.ts";
import type { Parcel } from "../../pipeline/response.ts";

/** A non-streaming body in pieces of this many bytes, all due immediately. */
const inPieces = (parcel: Parcel, size: number): Parcel => {
  const { body } = parcel;
  if (body.kind !== "whole" || body.bytes.length === 0) return parcel;
  const { bytes } = body;
  const count = Math.ceil(bytes.length / size);
  const steps = Array.from({ length: count }, (_none, at) => ({
    atMs: 0,
    tokens: 0,
    bytes: bytes.subarray(at * size, (at + 1) * size),
  }));
  return { ...parcel, body: { kind: "steps", steps, ending: "finish" } };
};

const chunkedIn = (size: number): Apply =>
  onParcel(withBody, (parcel) => inPieces(parcelWithout("Content-Length")(parcel), size));

/** Bodies of this length or more are refused unread, bytes. */
const UNREAD_BYTES = 1_000_000;

/** Refuses without reading the body: an unknown key, or a Content-Length that is too large, is known from the head. */
const refusesUnread: Apply = wrap("readsBody", (next) => (call) => {
  const { headers } = call.arrival;
  const length = Number(headers["content-length"] ?? 0);
  if (length === 0 && headers["transfer-encoding"] === undefined) return next(call);
  if (length > UNREAD_BYTES) call.bodyError = refusal("request_too_large");
  const secret = call.behaviour.presentedKey(call);
  const isKnown = secret !== undefined && call.behaviour.findKey(secret, call) !== undefined;
  return call.bodyError === undefined && isKnown && next(call);
});

/** How a body is transferred. */
export const TRANSFER_VARIANTS: readonly Variant[] = [
  variant(
    "http.chunked",
    "Non-streaming bodies are chunked.",
    onParcel(withBody, (parcel) => inPieces(parcelWithout("Content-Length")(parcel), 65_536)),
  ),
  variant("http.one-byte-chunks", "Non-streaming bodies are sent in one-byte chunks.", chunkedIn(1)),
  variant("http.seven-byte-chunks", "Non-streaming bodies are sent in seven-byte chunks.", chunkedIn(7)),
  variant(
    "http.length-in-pieces",
    "Non-streaming bodies have a Content-Length and are sent in eleven-byte writes.",
    onParcel(withBody, (parcel) => inPieces(parcel, 11)),
  ),
  variant(
    "http.connection-close",
    "Every connection is closed after its response, with Connection: close.",
    onParcel(always, parcelHeader("Connection", "close")),
  ),
  variant(
    "http.refuses-unread",
    "Requests with an unknown key or a large body are rejected before the body is read, and their connections are closed.",
    refusesUnread,
  ),
  variant(
    "http.refuses-unread-and-resets",
    "Requests with an unknown key or a large body are rejected before the body is read, and their connections are reset after the response.",
    all(
      refusesUnread,
      wrap("deliver", (next) => (parcel, call, delivery) => {
        const { response } = delivery;
        const { socket } = response;
        // The server marks a connection whose request it leaves unread.
        if (!response.shouldKeepAlive) response.once("finish", () => socket?.resetAndDestroy());
        next(parcel, call, delivery);
      }),
    ),
  ),
  variant(
    "http.close-delimited",
    "The end of a body is marked by closing the connection.",
    wrap("deliver", (next) => (parcel, call, delivery) => {
      delivery.response.removeHeader("Transfer-Encoding");
      delivery.response.shouldKeepAlive = false;
      next(withBody(call) ? parcelWithout("Content-Length")(parcel) : parcel, call, delivery);
    }),
  ),
  variant(
    "http.close-now-and-then",
    "Every fifth response closes its connection, with Connection: close.",
    (() => {
      const counter = remembered(() => ({ seen: 0 }));
      return onParcel(always, (parcel, call) => {
        const state = counter(call);
        state.seen += 1;
        return state.seen % 5 === 0 ? parcelHeader("Connection", "close")(parcel) : parcel;
      });
    })(),
  ),
  variant(
    "http.chunk-extensions",
    "Chunks have extensions.",
    wrap(
      "deliver",
      (next) => (parcel, call, delivery) =>
        withBody(call)
          ? deliverRaw(parcel, call, delivery, {
              ...CHUNKED,
              piece: (bytes, index) =>
                Buffer.concat([
                  Buffer.from(`${bytes.length.toString(16)};part="${index}; more"\r\n`),
                  bytes,
                  Buffer.from("\r\n"),
                ]),
            })
          : next(parcel, call, delivery),
    ),
  ),
  variant(
    "http.trailers",
    "Chunked bodies have trailers.",
    wrap(
      "deliver",
      (next) => (parcel, call, delivery) =>
        withBody(call)
          ? deliverRaw(parcel, call, delivery, {
              ...CHUNKED,
              headers: (own) => [...CHUNKED.headers(own), ["Trailer", "X-Checksum"]],
              last: "0\r\nX-Checksum: none\r\n\r\n",
            })
          : next(parcel, call, delivery),
    ),
  ),
  variant(
    "http.chunk-size-in-capitals",
    "Chunk sizes are upper-case hex with leading zeros.",
    wrap(
      "deliver",
      (next) => (parcel, call, delivery) =>
        withBody(call)
          ? deliverRaw(parcel, call, delivery, {
              ...CHUNKED,
              piece: (bytes) =>
                Buffer.concat([
                  Buffer.from(`00${bytes.length.toString(16).toUpperCase()}\r\n`),
                  bytes,
                  Buffer.from("\r\n"),
                ]),
            })
          : next(parcel, call, delivery),
    ),
  ),
  variant(
    "http.gzip-unless-excluded",
    "Non-streaming bodies are gzipped unless the client excludes it.",
    wrap(
      "compress",
      (next) => (bytes, call) =>
        call.arrival.headers["accept-encoding"] === undefined && bytes.length > 0
          ? { bytes: encodeAs("gzip", bytes), coding: "gzip" }
          : next(bytes, call),
    ),
  ),
  variant(
    "http.never-compressed",
    "Nothing is compressed.",
    wrap("compress", () => (bytes) => ({ bytes })),
  ),
  variant(
    "http.large-bodies-compressed",
    "Only bodies larger than a kilobyte are compressed.",
    wrap("compress", (next) => (bytes, call) => (bytes.length > 1_024 ? next(bytes, call) : { bytes })),
  ),
  variant(
    "http.x-gzip",
    "gzip is labelled x-gzip.",
    wrap("compress", (next) => (bytes, call) => {
      const packed = next(bytes, call);
      return packed.coding === undefined ? packed : { bytes: encodeAs("gzip", bytes), coding: "x-gzip" };
    }),
  ),
];
