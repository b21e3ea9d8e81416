import { expect, test } from "vitest";
import { bodyChange, unusualJson } from "../../src/overhead/unusual-json.ts";
import { diagnoseUpstream } from "../../src/overhead/upstream-diagnoses.ts";
import type { UpstreamFacts } from "../../src/overhead/upstream-facts.ts";
import type { ReceivedRequest } from "../../src/overhead/upstream-log.ts";

const VALUE = { model: "m", messages: [{ role: "user", content: "gauntlet-marker-1: é" }], max_tokens: 64 };
const SENT = unusualJson(VALUE);
const HELD_MS = 1_500;

function received(overrides: Partial<ReceivedRequest> = {}): ReceivedRequest {
  const { body = SENT } = overrides;
  const bodyBytes = Buffer.byteLength(body);
  return { connection: 1, earlier: 3, receivedMs: 0, endMs: 1, body, bodyBytes, ...overrides };
}

const times = (count: number, of: (index: number) => ReceivedRequest) => Array.from({ length: count }, (_, i) => of(i));
const inTurn = (requests: readonly ReceivedRequest[]): UpstreamFacts => ({
  inTurn: { body: SENT, received: requests },
  atOnce: undefined,
});
const withBody = (body: string, overrides: Partial<ReceivedRequest> = {}) =>
  inTurn(times(20, () => received({ body, ...overrides })));

/** Requests that arrived at these moments; late ones are not held. */
function atOnce(moments: readonly number[], { served = moments.length, sent = moments.length } = {}): UpstreamFacts {
  const endOf = (receivedMs: number) => receivedMs + (receivedMs < HELD_MS ? HELD_MS : 0.2);
  const all = moments.map((receivedMs) => received({ receivedMs, endMs: endOf(receivedMs) }));
  return { ...inTurn(times(20, () => received())), atOnce: { sent, served, received: all } };
}

/** Some concurrently, and as many again whenever these have ended. */
const waves = (size: number, count: number) =>
  Array.from({ length: size * count }, (_, i) => Math.floor(i / size) * (HELD_MS + 2) + (i % size) * 3);

test.each<[what: string, facts: UpstreamFacts | undefined, says: readonly RegExp[]]>([
  ["nobody looked", undefined, []],
  ["no request arrived, it was served from a cache", inTurn([]), []],
  ["everything as it was sent, on one connection", withBody(SENT), []],
  [
    "each request is the first of its connection",
    inTurn(times(20, (i) => received({ connection: 7 + i, earlier: 0 }))),
    [/^It opens a connection to the upstream for each request: 20 requests arrived on 20 connections\.$/],
  ],
  [
    "one found a connection that was left",
    inTurn(times(20, (i) => received({ connection: 7 + i, earlier: i === 0 ? 5 : 0 }))),
    [/20 requests arrived on 20 connections/],
  ],
  [
    "many connections that were there before: a pool that uses them in rotation",
    inTurn(times(20, (i) => received({ connection: 7 + i }))),
    [],
  ],
  ["every fourth connection is new", inTurn(times(20, (i) => received({ earlier: i % 4 }))), []],
  ["too few requests arrived", inTurn(times(9, (i) => received({ connection: i, earlier: 0 }))), []],
  ["the same value in other bytes", withBody(JSON.stringify(VALUE)), [/re-serialises.*same JSON value in other bytes/]],
  [
    "rewritten with another model and one more field",
    withBody(JSON.stringify({ ...VALUE, model: "n", user: "u" })),
    [/^It re-serialises request bodies, and edits them: model changed, user added\.$/],
  ],
  [
    "more fields than are listed",
    withBody(JSON.stringify({ ...VALUE, a: 1, b: 2, c: 3, d: 4, [`f${"f".repeat(99)}`]: 6 })),
    [/: a added, b added, c added, d added, and 1 more\.$/],
  ],
  ["the model was exchanged in the text", withBody(SENT.replace('"m"', '"provider/m"')), []],
  ["a field was cut out of the text", withBody(SENT.replace(/ ,\s+"max_tokens"\t : 64/, "")), []],
  ["what arrived is not what the log shows", withBody(JSON.stringify(VALUE), { bodyBytes: 7 }), []],
  ["all of 16 arrived at once", atOnce(times16(() => 5)), []],
  [
    "four of 16 at once",
    atOnce(waves(4, 4)),
    [/^At most 4 of 16 concurrent requests reach the upstream at once; the others wait/],
  ],
  ["one of 16 at once", atOnce([0, ...times16((i) => HELD_MS + 1 + i).slice(1)]), [/At most 1 /]],
  ["nearly all of them", atOnce(waves(14, 1).concat(times16(() => HELD_MS + 9).slice(14))), []],
  ["a slow gateway that passes on one every 200 ms", atOnce(times16((i) => i * 200)), []],
  ["a gateway that paces requests, one every second", atOnce(times16((i) => i * 1_000)), []],
  ["some were denied", atOnce(waves(4, 4), { served: 15 }), []],
  ["not all arrived", atOnce(waves(4, 1), { sent: 16, served: 16 }), []],
])("%s", (_, facts, says) => {
  expect(diagnoseUpstream(facts)).toEqual(says.map((text) => expect.stringMatching(text)));
});

function times16(momentOf: (index: number) => number): number[] {
  return Array.from({ length: 16 }, (_, index) => momentOf(index));
}

test("the unusual body is JSON of the same value, and of no serialiser", () => {
  expect(JSON.parse(SENT)).toEqual(VALUE);
  for (const space of [0, 1, 2, 4, "\t"]) expect(JSON.stringify(VALUE, null, space)).not.toBe(SENT);
});

test.each<[what: string, body: string, change: ReturnType<typeof bodyChange>]>([
  ["as it arrived", SENT, { isRewritten: false, changed: [], added: [], removed: [] }],
  [
    "in another order",
    JSON.stringify(Object.fromEntries(Object.entries(VALUE).reverse())),
    { isRewritten: true, changed: [], added: [], removed: [] },
  ],
  [
    "with another model and without a bound",
    JSON.stringify({ model: "n", messages: VALUE.messages, __proto: 1 }),
    { isRewritten: true, changed: ["model"], added: ["__proto"], removed: ["max_tokens"] },
  ],
  [
    "with nothing of it left, which cannot be compared",
    JSON.stringify({ contents: [] }),
    { isRewritten: false, changed: [], added: ["contents"], removed: ["model", "messages", "max_tokens"] },
  ],
  ["no object", "[1]", undefined],
  ["no JSON", "model=m", undefined],
])("a body %s", (_, body, change) => {
  expect(bodyChange(SENT, body)).toEqual(change);
});
