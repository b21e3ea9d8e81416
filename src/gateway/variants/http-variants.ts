import { CHUNKED, deliverByHand, PLAIN } from "../delivery/deliver-by-hand.ts";
import { encodeAs } from "../encode/compress.ts";
import { parcelHeader, parcelWithout } from "../faults/answer-edits.ts";
import { type Variant, variant } from "../faults/fault.ts";
import { always, inference, remembered, type When } from "../faults/when.ts";
import { type Apply, onParcel, wrap } from "../faults/wrap.ts";
import type { Header, Parcel } from "../pipeline/answer.ts";

const headers = (change: (headers: readonly Header[]) => readonly Header[]): Apply =>
  onParcel(always, (parcel) => ({ ...parcel, headers: change(parcel.headers) }));

const withBody: When = (call) => call.arrival.method !== "HEAD" && call.arrival.purpose !== "options";

/** A whole body in pieces of so many bytes, all due at once. */
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

/** Optional white space around values (RFC 9112, 5); the length stays as it is, because some parsers are strict there. */
const padded = (parcel: Parcel): Parcel => ({
  ...parcel,
  headers: parcel.headers.map(([name, value]) => [name, name === "Content-Length" ? value : `  ${value} \t`]),
});

/** Every response is put off. */
const late = (byMs: (call: Parameters<When>[0]) => number): Apply =>
  wrap("seal", (next) => (answer, call) => {
    const parcel = next(answer, call);
    return { ...parcel, afterMs: parcel.afterMs + byMs(call) };
  });

/** Settings of HTTP that change nothing in what is said. */
export const HTTP_VARIANTS: readonly Variant[] = [
  variant(
    "http.lower-case-headers",
    "Header names are in lower case.",
    headers((all) => all.map(([name, value]) => [name.toLowerCase(), value])),
  ),
  variant(
    "http.upper-case-headers",
    "Header names are in capitals.",
    headers((all) => all.map(([name, value]) => [name.toUpperCase(), value])),
  ),
  variant(
    "http.padded-header-values",
    "Header values have white space around them.",
    wrap("deliver", (next) => (parcel, call, delivery) => {
      if (!withBody(call)) next(parcel, call, delivery);
      else deliverByHand(padded(parcel), call, delivery, parcel.body.kind === "steps" ? CHUNKED : PLAIN);
    }),
  ),
  variant(
    "http.headers-reversed",
    "Headers come in another order.",
    headers((all) => all.toReversed()),
  ),
  variant(
    "http.vendor-headers",
    "Responses carry headers of servers and edges in front.",
    headers((all) => [
      ...all,
      ["Server", "edge"],
      ["Via", "1.1 cache-ams"],
      ["X-Served-By", "cache-ams-3"],
      ["Strict-Transport-Security", "max-age=31536000"],
      ["Set-Cookie", "a=1; Path=/"],
      ["Set-Cookie", "b=2; Path=/"],
      ["Alt-Svc", 'h3=":443"'],
      ["Timing-Allow-Origin", "*"],
    ]),
  ),
  variant(
    "http.many-headers",
    "Responses carry sixty more headers.",
    headers((all) => [
      ...all,
      ...Array.from({ length: 60 }, (_none, at): Header => [`X-Extra-${at}`, "value ".repeat(12).trim()]),
    ]),
  ),
  variant(
    "http.no-optional-headers",
    "Responses carry only the headers that they have to.",
    headers((all) =>
      all.filter(([name]) => !/^(x-ratelimit-.*|x-request-id|request-id|vary|cache-control)$/i.test(name)),
    ),
  ),
  variant(
    "http.chunked",
    "Whole bodies are chunked.",
    onParcel(withBody, (parcel) => inPieces(parcelWithout("Content-Length")(parcel), 65_536)),
  ),
  variant("http.one-byte-chunks", "Whole bodies come in chunks of one byte.", chunkedIn(1)),
  variant("http.seven-byte-chunks", "Whole bodies come in chunks of seven bytes.", chunkedIn(7)),
  variant(
    "http.length-in-pieces",
    "Whole bodies come with their length, in pieces of eleven bytes.",
    onParcel(withBody, (parcel) => inPieces(parcel, 11)),
  ),
  variant(
    "http.connection-close",
    "Every connection is closed after its response, and says so.",
    onParcel(always, parcelHeader("Connection", "close")),
  ),
  variant(
    "http.close-delimited",
    "The end of a body is the end of its connection.",
    wrap("deliver", (next) => (parcel, call, delivery) => {
      delivery.response.removeHeader("Transfer-Encoding");
      delivery.response.shouldKeepAlive = false;
      next(withBody(call) ? parcelWithout("Content-Length")(parcel) : parcel, call, delivery);
    }),
  ),
  variant(
    "http.close-now-and-then",
    "Every fifth request ends its connection, and says so.",
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
          ? deliverByHand(parcel, call, delivery, {
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
    "Chunked bodies are followed by trailers.",
    wrap(
      "deliver",
      (next) => (parcel, call, delivery) =>
        withBody(call)
          ? deliverByHand(parcel, call, delivery, {
              ...CHUNKED,
              headers: (own) => [...CHUNKED.headers(own), ["Trailer", "X-Checksum"]],
              last: "0\r\nX-Checksum: none\r\n\r\n",
            })
          : next(parcel, call, delivery),
    ),
  ),
  variant(
    "http.chunk-size-in-capitals",
    "Chunk sizes are hexadecimal in capitals, with zeros before them.",
    wrap(
      "deliver",
      (next) => (parcel, call, delivery) =>
        withBody(call)
          ? deliverByHand(parcel, call, delivery, {
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
    "http.early-hints",
    "Early hints come before the response.",
    wrap("deliver", (next) => (parcel, call, delivery) => {
      delivery.response.writeEarlyHints({ link: "</style.css>; rel=preload; as=style" });
      next(parcel, call, delivery);
    }),
  ),
  variant(
    "http.processing",
    "The client is told that its request is being worked on before it is answered.",
    wrap("deliver", (next) => (parcel, call, delivery) => {
      if (inference(call)) delivery.response.writeProcessing();
      next(parcel, call, delivery);
    }),
  ),
  variant(
    "http.reason-phrases",
    "Status lines have a phrase of the gateway's own.",
    wrap("deliver", (next) => (parcel, call, delivery) => {
      delivery.response.statusMessage = parcel.status < 300 ? "Fine" : "Sorry";
      next(parcel, call, delivery);
    }),
  ),
  variant(
    "http.gzip-unless-excluded",
    "Whole bodies are gzip whenever the client does not exclude it.",
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
    "Only bodies of more than a kilobyte are compressed.",
    wrap("compress", (next) => (bytes, call) => (bytes.length > 1_024 ? next(bytes, call) : { bytes })),
  ),
  variant(
    "http.x-gzip",
    "gzip is labelled by its old name.",
    wrap("compress", (next) => (bytes, call) => {
      const packed = next(bytes, call);
      return packed.coding === undefined ? packed : { bytes: encodeAs("gzip", bytes), coding: "x-gzip" };
    }),
  ),
  variant(
    "http.slow-first-byte",
    "The first byte of every response takes 400 ms.",
    late(() => 400),
  ),
  variant(
    "http.slow-denials",
    "Refusals take half a second.",
    late((call) => (call.refused === undefined ? 0 : 500)),
  ),
  variant(
    "http.jittery",
    "Responses take up to 150 ms, each another time.",
    late((call) => (call.number * 37) % 150),
  ),
  variant(
    "http.slow-list",
    "The model list takes a second.",
    late((call) => (call.endpoint === "models" ? 1_000 : 0)),
  ),
];
