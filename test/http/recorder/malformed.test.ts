import { expect, test } from "vitest";
import { Recorder } from "../../../src/http/recorder/index.ts";
import { rawServer } from "../../support/raw-server.ts";

const BODY = '{"data":[]}';
const LENGTH = `content-length: ${BODY.length}\r\n`;
const OK = "HTTP/1.1 200 OK\r\n";
const CHUNKED = "transfer-encoding: chunked\r\n";

async function endingOf(text: string) {
  await using server = await rawServer((socket) => void socket.end(Buffer.from(text, "latin1")));
  await using recorder = new Recorder({ secrets: [], bounds: { deadlineMs: 10_000 } });
  return await recorder.send({ method: "GET", url: `${server.origin}/v1/models`, headers: [] });
}

test.each<[string, string, RegExp]>([
  ["two equal lengths", `${OK}${LENGTH}${LENGTH}\r\n${BODY}`, /^more than one Content-Length \(RFC 9110, 8\.6\)$/],
  ["a list of lengths", `${OK}content-length: 11, 11\r\n\r\n${BODY}`, /^more than one Content-Length/],
  [
    "a length that is not a number",
    `${OK}content-length: many\r\n\r\n${BODY}`,
    /^a Content-Length that is not a number/,
  ],
  ["a length of 23 digits", `${OK}content-length: 9${"0".repeat(22)}\r\n\r\n${BODY}`, /^a Content-Length that is not/],
  [
    "a length, then chunks",
    `${OK}${LENGTH}${CHUNKED}\r\nb\r\n${BODY}\r\n0\r\n\r\n`,
    /^both Content-Length and Trans.*6\.2/,
  ],
  [
    "chunks, then a length",
    `${OK}${CHUNKED}${LENGTH}\r\nb\r\n${BODY}\r\n0\r\n\r\n`,
    /^both Content-Length and Trans.*6\.2/,
  ],
  ["space before a colon", `${OK}x-id : 1\r\n${LENGTH}\r\n${BODY}`, /^whitespace between the field name "x-id" .*5\.1/],
  ["a folded field", `${OK}x-note: a\r\n b\r\n${LENGTH}\r\n${BODY}`, /obs-fold; RFC 9112, 5\.2/],
  ["space before the first field", `${OK} x: a\r\n${LENGTH}\r\n${BODY}`, /^whitespace before the first header.*2\.2/],
  ["bare LF after the status line", `HTTP/1.1 200 OK\n${LENGTH}\r\n${BODY}`, /bare LF.*2\.2/],
  ["bare LF everywhere", `${OK}${LENGTH}\r\n${BODY}`.replaceAll("\r", ""), /bare LF.*2\.2/],
  ["a bare CR", `${OK}x: a\rb\r\n${LENGTH}\r\n${BODY}`, /^a bare CR in the head/],
  ["NUL in a value", `${OK}x: a\0b\r\n${LENGTH}\r\n${BODY}`, /^a control character in the value of "x"/],
  ["a space in a name", `${OK}x note: a\r\n${LENGTH}\r\n${BODY}`, /^the field name "x note", which is not a token/],
  ["a line without a colon", `${OK}note\r\n${LENGTH}\r\n${BODY}`, /^a header line without a colon/],
  ["a status of two digits", `HTTP/1.1 20 OK\r\n${LENGTH}\r\n${BODY}`, /^a status line that is not/],
  ["another version", `HTTP/1.2 200 OK\r\n${LENGTH}\r\n${BODY}`, /^a status line that is not/],
  [
    "a head of 300 kB",
    `${OK}${`x: ${"v".repeat(1_000)}\r\n`.repeat(300)}${LENGTH}\r\n${BODY}`,
    /^a head of more than 256/,
  ],
  [
    "101 for a plain request",
    "HTTP/1.1 101 Switching Protocols\r\nupgrade: h2c\r\nconnection: upgrade\r\n\r\n",
    /^101 Sw/,
  ],
  ["no HTTP", "SSH-2.0-OpenSSH_9\r\n", /^no HTTP status line/],
  ["TLS", "\x15\x03\x01\x00\x02\x02\x46", /^a TLS record/],
  ["HTTP/2", "\0\0\x12\x04\0\0\0\0\0\0\x03\0\0\0\x80", /^an HTTP\/2 frame/],
])("a response with %s is malformed, and the rule is named", async (_what, text, expected) => {
  const { ending, response, afterwards } = await endingOf(text);
  expect(ending).toEqual({ kind: "protocol-error", detail: expect.stringMatching(expected) });
  expect([response, afterwards]).toEqual([undefined, undefined]);
});

test.each<[string, string]>([
  ["an unreadable chunk size", `${OK}${CHUNKED}\r\nzz\r\n${BODY}\r\n0\r\n\r\n`],
  ["a chunk longer than it says", `${OK}${CHUNKED}\r\n2\r\n${BODY}\r\n0\r\n\r\n`],
])("%s names its rule, and is not reported again as bytes after the message", async (_what, text) => {
  const { ending, response, afterwards } = await endingOf(text);
  expect(ending).toEqual({ kind: "protocol-error", detail: expect.stringContaining("(RFC 9112, 7.1)") });
  expect([response?.status, afterwards]).toEqual([200, undefined]);
});

test.each<[string, string]>([
  ["a status line without a reason phrase", `HTTP/1.1 200\r\n${LENGTH}\r\n${BODY}`],
  ["a head of 20 kB", `${OK}${`x: ${"v".repeat(1_000)}\r\n`.repeat(20)}${LENGTH}\r\n${BODY}`],
  ["an empty line before the status line", `\r\n${OK}${LENGTH}\r\n${BODY}`],
])("%s is read", async (_what, text) => {
  const { ending, response } = await endingOf(text);
  expect([ending.kind, response?.status, response?.body.text]).toEqual(["complete", 200, BODY]);
});

test.each<[string, string]>([
  ["inside the status line", "HTTP/1.1 2"],
  ["inside a field", `${OK}content-le`],
  ["after a field", `${OK}x: 1\r\n`],
])("a connection that ends %s is cut, and not malformed", async (_what, text) => {
  const { ending } = await endingOf(text);
  expect(ending.kind).toBe("reset");
});
