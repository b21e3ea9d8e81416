import fc from "fast-check";
import {
  decodeEventStream,
  EventStreamDecoder,
  header,
  mediaType,
  outputOf,
  parseJson,
  readError,
  readReply,
  readStream,
  requestId,
  retryAfterMs,
} from "../../src/dialects/index.ts";
import { EventScanner } from "../../src/http/load-client/body/event-scanner.ts";
import { ResponseParser } from "../../src/http/load-client/response-parser.ts";
import { decodeBody, Redactor } from "../../src/http/recorder/index.ts";
import { InterimFilter } from "../../src/http/recorder/interim-filter.ts";
import { anyBytes, bytes, cuts, piecesOf, responseLike } from "./arbitraries.ts";
import { equal, must, type Property, property } from "./property.ts";

const headers = fc.array(fc.tuple(fc.string({ maxLength: 12 }), fc.string({ maxLength: 30 })), { maxLength: 5 });

/**
 * Decoders and readers of what a gateway sends: nothing makes them throw, and the result does not depend on where bytes are
 * split.
 */
export const READERS_OF_RESPONSES: readonly Property[] = [
  property("event streams: cut anywhere, the same items", [anyBytes, cuts], (whole, at) => {
    const decoder = new EventStreamDecoder();
    const items = [...piecesOf(whole, at).flatMap((piece) => decoder.feed(piece)), ...decoder.end()];
    equal(items, decodeEventStream(whole));
    for (const { start, end } of items) must(0 <= start && start <= end && end <= whole.length, "offsets are inside");
  }),
  property("streams of any framing are read", [anyBytes], (body) => {
    const reading = readStream(body);
    must(reading.strayBytes <= body.length, "no more strays than bytes");
    must(reading.outputs <= reading.events.length, "no more outputs than events");
  }),
  property("replies, errors and stream items of any shape are read", [responseLike], (value) => {
    const text = JSON.stringify(value);
    must(text === undefined || parseJson(text) !== undefined, "what was written is read");
    readReply("chat", value);
    readReply("messages", value);
    outputOf(value);
    readError(text ?? "");
    readStream(Buffer.from(`data: ${text}\n\n${text}`));
  }),
  property("error bodies of any text are read", [fc.string({ unit: "binary" })], (text) => void readError(text)),
  property("headers of any text are read", [headers, fc.string()], (list, name) => {
    header(list, name);
    mediaType(list);
    requestId(list);
  }),
  property(
    "Retry-After of any text is a wait that a timer accepts, or none",
    [
      fc.oneof(
        fc.string(),
        fc.bigInt().map(String),
        fc.date({ noInvalidDate: true }).map((date) => date.toUTCString()),
      ),
      fc.nat(),
    ],
    (text, nowMs) => {
      const waitMs = retryAfterMs(text, nowMs);
      must(waitMs === undefined || (waitMs >= 0 && waitMs * 1_000 <= Number.MAX_SAFE_INTEGER), `${text}: ${waitMs}`);
    },
  ),
  property("responses under load: cut anywhere, the same message", [responses(), cuts], (whole, at) => {
    equal(parsed(piecesOf(whole, at)), parsed([whole]));
  }),
  property("events under load: cut anywhere, the same counts", [bytes, cuts], (whole, at) => {
    equal(scanned(piecesOf(whole, at)), scanned([whole]));
  }),
  property("interim responses: cut anywhere, the same rest", [interims(), cuts], (whole, at) => {
    equal(filtered(piecesOf(whole, at)), filtered([whole]));
  }),
  property(
    "bodies of any coding are decoded within the bound, or said to be none",
    [
      anyBytes,
      cuts,
      fc.constantFrom(
        "gzip",
        "br",
        "deflate",
        "x-gzip",
        "gzip, br",
        "identity",
        "",
        "zstd",
        ",,,",
        "gzip,gzip,gzip,gzip,gzip",
      ),
    ],
    async (whole, at, coding) => {
      const pieces = piecesOf(whole, at).map((piece, atUs) => ({ atUs, bytes: piece }));
      const decoded = await decodeBody(pieces, coding, 1_000_000, true);
      must(decoded.pieces.reduce((sum, piece) => sum + piece.bytes.length, 0) <= 1_100_000, "bounded");
    },
    4,
  ),
  property(
    "secrets are hidden wherever they stand, in their length",
    [fc.stringMatching(/^[A-Za-z0-9_-]{20,40}$/), fc.array(fc.string({ maxLength: 20 }), { maxLength: 6 }), fc.nat(3)],
    (secret, around, form) => {
      const shown = [
        secret,
        Buffer.from(`Bearer ${secret}`).toString("base64"),
        encodeURIComponent(secret),
        secret.slice(0, -3),
      ][form] as string;
      const text = around.join(shown) + shown;
      const { text: clean } = new Redactor([{ name: "key", value: secret }]).redact(text);
      must(!clean.includes(secret), "whole");
      equal(clean.length, text.length);
    },
  ),
];

function responses(): fc.Arbitrary<Buffer> {
  const body = fc.string({ unit: "binary", maxLength: 30 });
  const good = body.map((text) => `HTTP/1.1 200 OK\r\ncontent-length: ${Buffer.byteLength(text)}\r\n\r\n${text}`);
  const chunked = fc
    .array(
      body.filter((text) => text !== ""),
      { maxLength: 4 },
    )
    .map(
      (parts) =>
        `HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n${parts.map((part) => `${Buffer.byteLength(part).toString(16)}\r\n${part}\r\n`).join("")}0\r\n\r\n`,
    );
  const field = fc.constantFrom(
    "content-length: 5",
    "content-length: -1",
    "transfer-encoding: chunked",
    "connection: close",
    "x: y",
    ":",
    "no colon",
    "retry-after: 1",
    "retry-after: 1",
  );
  const odd = fc
    .tuple(
      fc.constantFrom("200 OK", "100 Continue", "204 None", "099", "abc", ""),
      fc.array(field, { maxLength: 4 }),
      body,
    )
    .map(([status, fields, text]) => [`HTTP/1.1 ${status}`, ...fields, "", text].join("\r\n"));
  return fc.oneof(
    fc.oneof(good, chunked, odd).map((text) => Buffer.from(text)),
    anyBytes,
  );
}

/** What a listener receives, with its body joined: pieces may be split differently. */
function parsed(pieces: readonly Buffer[]): unknown {
  const events: unknown[] = [];
  let body = "";
  const parser = new ResponseParser({
    onHead: (status, head) => events.push(["head", status, head]),
    onBody: (piece, from, to) => {
      body += piece.toString("latin1", from, to);
    },
    onEnd: (reusable) => events.push(["end", reusable]),
    // The reason may mention what was seen so far.
    onBroken: () => events.push(["broken"]),
  });
  parser.start();
  for (const piece of pieces) if (parser.busy) parser.feed(piece, 0, piece.length);
  return { events, body: events.some((entry) => (entry as unknown[])[0] === "broken") ? "" : body };
}

function scanned(pieces: readonly Buffer[]): unknown {
  const scanner = new EventScanner();
  for (const piece of pieces) scanner.feed(piece.toString("latin1"));
  scanner.end();
  const { events, contentEvents, usageTokens, ended, error } = scanner;
  return { events, contentEvents, usageTokens, ended, error };
}

function interims(): fc.Arbitrary<Buffer> {
  return fc
    .array(
      fc.constantFrom(
        "HTTP/1.1 100 Continue\r\n\r\n",
        "HTTP/1.1 100 C\r\na: b\r\n\r\n",
        "HTTP/1.1 200 OK\r\n\r\n",
        "HTTP/1.",
        "x",
      ),
      { maxLength: 6 },
    )
    .map((parts) => Buffer.from(parts.join("")));
}

function filtered(pieces: readonly Buffer[]): unknown {
  const filter = new InterimFilter();
  filter.arm();
  const passed = pieces.map((piece) => filter.pass(piece));
  const rest = Buffer.concat([...passed, filter.flush()]).toString("latin1");
  return { rest, removed: filter.removed };
}
