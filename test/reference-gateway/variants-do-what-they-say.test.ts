// real-time: checks fill the limits of a minute and wait for Retry-After
import { connect } from "node:net";
import { gunzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { jsonOf, type Reply } from "./support/client.ts";
import { type Fixture, MESSAGES, startFixture } from "./support/gateway-fixture.ts";

const row = ({ status, headers }: Reply) => `${status} ${headers["x-service-error-code"] ?? ""}`.trim();

/** The raw bytes of one response from the connection. */
function raw(fixture: Fixture, body: object, path = "/v1/chat/completions"): Promise<string> {
  const text = JSON.stringify({ model: "echo-fast", messages: MESSAGES.messages, ...body });
  const { port } = new URL(fixture.ready.baseUrl);
  const head = [
    `POST ${path} HTTP/1.1`,
    "Host: gateway",
    `Authorization: Bearer ${fixture.ready.keys.valid}`,
    "Content-Type: application/json",
    `Content-Length: ${Buffer.byteLength(text)}`,
    "Connection: close",
    "",
    text,
  ];
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    const socket = connect(Number(port), "127.0.0.1", () => socket.write(head.join("\r\n")));
    socket.on("data", (bytes) => chunks.push(bytes));
    socket.on("close", () => resolve(Buffer.concat(chunks).toString("utf8")));
    socket.on("error", reject);
  });
}

const STREAM = { stream: true };

test.each<[string, object, RegExp]>([
  ["http.lower-case-headers", {}, /\r\ncontent-type: /],
  ["http.upper-case-headers", {}, /\r\nCONTENT-TYPE: /],
  ["http.padded-header-values", {}, /\r\nX-Request-Id: {3}req_\w+ \t\r\n/],
  ["http.chunk-extensions", {}, /\r\n\w+;part="0; more"\r\n\{/],
  ["http.trailers", {}, /\r\n0\r\nX-Checksum: none\r\n\r\n$/],
  ["http.chunk-size-in-capitals", {}, /\r\n00[0-9A-F]+\r\n\{/],
  ["http.early-hints", {}, /^HTTP\/1\.1 103 Early Hints\r\nLink: [\s\S]+\r\n\r\nHTTP\/1\.1 200 OK/],
  ["http.processing", {}, /^HTTP\/1\.1 102 Processing\r\n\r\nHTTP\/1\.1 200 OK/],
  ["http.reason-phrases", {}, /^HTTP\/1\.1 200 Fine\r\n/],
  ["http.close-delimited", {}, /^(?![\s\S]*(Content-Length|Transfer-Encoding))/],
  [
    "http.refuses-unread",
    { messages: [{ role: "user", content: "x".repeat(1_100_000) }] },
    /^HTTP\/1\.1 413 [\s\S]*Connection: close/,
  ],
  [
    "http.refuses-unread-and-resets",
    { messages: [{ role: "user", content: "x".repeat(1_100_000) }] },
    /^HTTP\/1\.1 413 [\s\S]*Connection: close[\s\S]*\}$/,
  ],
  ["http.one-byte-chunks", {}, /\r\n\r\n1\r\n\{\r\n1\r\n"\r\n/],
  ["stream.crlf", STREAM, /data: \{[^\n]*\}\r\n\r\n/],
  ["stream.cr", STREAM, /data: \{[^\n]*\}\r\r/],
  [
    "stream.one-event-per-text",
    { stream: true, messages: [{ role: "user", content: "a word and ".repeat(900) }] },
    /"content":"(?:a word and ){900}"/,
  ],
  ["stream.no-space", STREAM, /\ndata:\{/],
  ["stream.comments", STREAM, /: comment ☃\n:inside\ndata: /],
  ["stream.keep-alives", { ...STREAM, model: "echo-stream" }, /: keep-alive\n\n/],
  ["stream.retry-and-id-fields", STREAM, /id: 0\nretry: 3000\ndata: /],
  ["stream.byte-order-mark", STREAM, /\ufeffdata: /],
  ["stream.data-over-lines", STREAM, /data: \{\ndata: {2}"id"/],
  ["stream.one-byte-writes", STREAM, /1\r\nd\r\n1\r\na\r\n/],
  ["stream.json-lines", STREAM, /application\/x-ndjson[\s\S]*\n\{"id"/],
])("%s", async (name, body, shows) => {
  await using clean = await startFixture({ paceMs: 30 });
  await using fixture = await startFixture({ variants: [name], paceMs: 30 });
  expect(await raw(fixture, body)).toMatch(shows);
  expect(await raw(clean, body)).not.toMatch(shows);
});

/** A request whose response depends on the order of the checks. */
const both = (key: "revoked" | "capped" | "empty" | "valid", body: object) => (fixture: Fixture) =>
  fixture.chat(body, { key: fixture.ready.keys[key] });
const UNKNOWN = { model: "no-such-model" };
const BAD = { messages: [] };

test.each<[string, (fixture: Fixture) => Promise<Reply>, string, string]>([
  ["order.body-first", both("revoked", BAD), "401 key_revoked", "400 invalid_request"],
  ["order.model-before-key", both("revoked", UNKNOWN), "401 key_revoked", "404 model_not_found"],
  ["order.model-before-body", both("valid", { ...UNKNOWN, ...BAD }), "400 invalid_request", "404 model_not_found"],
  ["order.money-before-body", both("capped", BAD), "400 invalid_request", "402 quota_exceeded"],
  ["paths.slash-refused", (fixture) => fixture.send({ path: "/models/" }), "200", "404 not_found"],
  ["paths.key-before-path", (fixture) => fixture.send({ path: "/x", key: "" }), "404 not_found", "401 invalid_api_key"],
  ["paths.query-refused", (fixture) => fixture.send({ path: "/messages?a=1", body: MESSAGES }), "200", "404 not_found"],
  [
    "auth.vendor-key-refused",
    (fixture) => fixture.messages({}, { key: "", headers: { "x-api-key": fixture.ready.keys.valid } }),
    "200",
    "401 invalid_api_key",
  ],
  [
    "auth.vendor-key-everywhere",
    (fixture) => fixture.chat({}, { key: "", headers: { "x-api-key": fixture.ready.keys.valid } }),
    "401 invalid_api_key",
    "200",
  ],
  [
    "auth.both-keys-agree",
    (fixture) => fixture.chat({}, { headers: { "x-api-key": "gk-left-over" } }),
    "200",
    "401 invalid_api_key",
  ],
  [
    "auth.one-key-only",
    (fixture) => fixture.messages({}, { headers: { "x-api-key": fixture.ready.keys.valid } }),
    "200",
    "400 invalid_request",
  ],
  [
    "auth.one-space-only",
    (fixture) => fixture.chat({}, { headers: { Authorization: `Bearer  ${fixture.ready.keys.valid}` } }),
    "200",
    "401 invalid_api_key",
  ],
  [
    "messages.system-turns-applied",
    (fixture) => fixture.messages({ messages: [{ role: "system", content: "x" }, ...MESSAGES.messages] }),
    "400 invalid_request",
    "200",
  ],
  ["messages.version-mandatory", (fixture) => fixture.messages(), "200", "400 invalid_request"],
  [
    "messages.future-version-refused",
    (fixture) => fixture.messages({}, { headers: { "anthropic-version": "2099-01-01" } }),
    "200",
    "400 invalid_request",
  ],
])("%s", async (name, send, usual, unusual) => {
  await using clean = await startFixture();
  await using fixture = await startFixture({ variants: [name] });
  expect([row(await send(clean)), row(await send(fixture))]).toEqual([usual, unusual]);
});

test("a compressed stream can be unpacked piece by piece", async () => {
  await using fixture = await startFixture({ variants: ["stream.gzip"], pieces: 5, paceMs: 30 });
  const headers = { "Accept-Encoding": "gzip" };
  const reply = await fixture.chat({ model: "echo-stream", stream: true }, { headers });
  expect(reply.headers["content-encoding"]).toBe("gzip");
  expect(gunzipSync(reply.bytes).toString()).toMatch(/^data: \{[\s\S]*\n\ndata: \[DONE\]\n\n$/);
  expect((reply.pieces.at(-1)?.atMs ?? 0) - (reply.pieces[0]?.atMs ?? 0)).toBeGreaterThan(100);
});

test("unusual model ids can be called", async () => {
  await using fixture = await startFixture({ variants: ["models.unusual-ids"] });
  const ids = jsonOf(await fixture.send({ path: "/models" })).data.map(({ id }: { id: string }) => id);
  expect(ids).toContain("vendor/model-1:free");
  for (const model of ids.slice(-4)) expect((await fixture.chat({ model })).status).toBe(200);
});

test("a wait that is stated as a date is enforced", async () => {
  await using fixture = await startFixture({ variants: ["retry-after.http-date"] });
  const { key } = fixture.ready.limited[0] ?? { key: "" };
  for (let turn = 0; turn < 20; turn += 1) await fixture.chat({}, { key });
  const value = (await fixture.chat({}, { key })).headers["retry-after"] ?? "";
  expect(new Date(value).toUTCString()).toBe(value);
  const waitMs = Date.parse(value) - Date.now();
  expect(waitMs).toBeGreaterThan(58_000);
  expect(waitMs).toBeLessThan(63_000);
  await fixture.admin("POST", "/clock", { skipMs: Math.ceil(waitMs) });
  expect((await fixture.chat({}, { key })).status).toBe(200);
});

test.each([
  ["limits.bad-requests-count", 1],
  ["limits.listing-counts", 1],
  ["limits.failures-free", -1],
])("%s", async (name, change) => {
  const left = async (variants: string[]) => {
    await using fixture = await startFixture({ variants });
    const key = fixture.ready.keys.other;
    await fixture.chat({ messages: [] }, { key });
    await fixture.send({ path: "/models", key });
    await fixture.chat({ model: "fail-500" }, { key });
    return Number((await fixture.chat({}, { key })).headers["x-ratelimit-remaining"]);
  };
  expect((await left([])) - (await left([name]))).toBe(change);
});
