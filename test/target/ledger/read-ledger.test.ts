import { createHash } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { describe, expect, test } from "vitest";
import { parseTarget, readLedger } from "../../../src/target/index.ts";
import { httpServer } from "../../support/judge.ts";

const KEY = "sk-test-valid-0123456789abcdef";
const HASH = createHash("sha256").update(KEY).digest("hex");
const FROM_MS = Date.parse("2026-03-01T10:00:00.400Z");
const TO_MS = Date.parse("2026-03-01T10:05:00.400Z");

/** Reads a ledger as a target file describes it. */
function read(written: string) {
  const text = `baseUrl: http://127.0.0.1:1/v1\nkeys: { valid: env:K }\nledger: ${written}\n`;
  const { ledger, keys } = parseTarget(text, "gauntlet.yaml", { K: KEY, T: "ledger-token-0123" });
  if (ledger === undefined) throw new Error("the target has no ledger");
  const { signal } = new AbortController();
  return readLedger(ledger, { key: keys.valid, fromMs: FROM_MS, toMs: TO_MS, signal });
}

/** A server that sends these texts, or what a function makes of the request. */
async function serving(respond: string | ((request: IncomingMessage) => unknown), status = 200) {
  const requests: { readonly url: string; readonly authorization: string | undefined }[] = [];
  const server = await httpServer((request, _body, response) => {
    requests.push({ url: request.url ?? "", authorization: request.headers.authorization });
    const body = typeof respond === "string" ? respond : JSON.stringify(respond(request));
    response.writeHead(status, { "content-type": "application/json" }).end(body);
  });
  return { ...server, requests, origin: server.baseUrl.replace(/\/v1$/, "") };
}

const FIELDS = "fields: { time: /t, input: /i, output: /o, cost: /c, key: /k }";
const ROW = { t: "2026-03-01T10:01:00Z", i: 10, o: 2, c: 0.5, k: HASH };

describe("the formats of known gateways", () => {
  test("LiteLLM: spend logs, in pages, with the times that it accepts", async () => {
    const row = {
      request_id: "chatcmpl-1",
      litellm_call_id: "call-1",
      api_key: HASH,
      spend: 0.000123,
      prompt_tokens: 2_000,
      completion_tokens: 37,
      // Without a zone, and in UTC.
      startTime: "2026-03-01 10:01:02.500",
      model: "openai/gpt-5-mini",
      model_group: "mini",
      status: "success",
      metadata: {
        usage_object: {
          prompt_tokens_details: { cached_tokens: 1_900 },
          completion_tokens_details: { reasoning_tokens: 30 },
        },
      },
    };
    const second = { ...row, litellm_call_id: "call-2", metadata: JSON.stringify(row.metadata), status: "failure" };
    const pages = [[row], [second], []];
    await using server = await serving(({ url }) => ({
      data: pages[Number(new URL(url ?? "", "http://x").searchParams.get("page")) - 1],
      total: 2,
    }));
    const reading = await read(`{ kind: litellm, url: "${server.origin}", token: env:T }`);
    expect(reading).toMatchObject({ problem: null, pages: 3, totals: null });
    const expected = {
      requestId: "call-1",
      isOwnKey: true,
      timeMs: Date.parse("2026-03-01T10:01:02.500Z"),
      model: "mini",
      status: "success",
      requests: 1,
      input: 2_000,
      cachedInput: 1_900,
      cacheWrite5m: 0,
      cacheWrite1h: 0,
      output: 37,
      reasoning: 30,
      costMicroUsd: expect.closeTo(123, 6),
    };
    expect(reading.rows).toEqual([expected, { ...expected, requestId: "call-2", status: "failure" }]);
    const query = new URL(server.requests[0]?.url ?? "", "http://x");
    expect(query.pathname).toBe("/spend/logs/v2");
    expect(Object.fromEntries(query.searchParams)).toMatchObject({
      api_key: HASH,
      start_date: "2026-03-01 10:00:00",
      end_date: "2026-03-01 10:05:01",
    });
    expect(server.requests[0]?.authorization).toBe("Bearer ledger-token-0123");
  });

  test("inferrail: receipts of all times, of which only those in the range count", async () => {
    const receipt = {
      receipt_id: "rcpt_1",
      request_id: "req_1",
      timestamp: "2026-03-01T10:02:00.000000Z",
      model: "m",
      status: "success",
      prompt_tokens: 3_000,
      completion_tokens: 20,
      cache_creation_input_tokens: 1_400,
      cache_creation_5m_input_tokens: 1_000,
      cache_creation_1h_input_tokens: 400,
      cache_read_input_tokens: null,
      estimated_cost_usd: "0.004250",
    };
    const failed = {
      ...receipt,
      request_id: "req_2",
      prompt_tokens: null,
      completion_tokens: null,
      estimated_cost_usd: null,
    };
    const old = { ...receipt, timestamp: "2026-02-28T10:02:00Z" };
    const all = [old, receipt, failed];
    await using server = await serving(({ url }) => {
      const offset = Number(new URL(url ?? "", "http://x").searchParams.get("offset"));
      return { receipts: all.slice(offset, offset + 2), total: 3, limit: 2, offset };
    });
    const { rows, problem, listed } = await read(`{ kind: inferrail, url: "${server.origin}" }`);
    expect(problem).toBeNull();
    expect(rows).toMatchObject([
      { requestId: "req_1", isOwnKey: null, input: 3_000, cacheWrite5m: 1_000, cacheWrite1h: 400, costMicroUsd: 4_250 },
      { requestId: "req_2", input: 0, output: 0, costMicroUsd: null },
    ]);
    expect(listed).toMatchObject({ rows: 3, costMicroUsd: 8_500 });
  });
});

describe("other descriptions", () => {
  test("of several places, the first with a value counts; text that is not JSON has no members", async () => {
    const rows = [
      { ...ROW, a: null, b: { n: 3 }, r: "{broken" },
      { ...ROW, a: null, b: '{"n":4}' },
    ];
    await using server = await serving(JSON.stringify(rows));
    const reading = await read(
      `{ url: "${server.origin}/x", fields: { time: /t, input: /i, output: /o, cost: [/r/c, /c], cachedInput: [/a, /b/n] } }`,
    );
    expect(reading.rows).toMatchObject([{ cachedInput: 3 }, { cachedInput: 4 }]);
    const free = await read(
      `{ url: "${server.origin}/x", fields: { time: /t, input: /i, output: /o, cost: [/a, /z] } }`,
    );
    expect(free.rows.map(({ costMicroUsd }) => costMicroUsd)).toEqual([null, null]);
  });

  test("counts without the cache and without reasoning are completed, and totals are read", async () => {
    await using server = await serving(() => ({
      list: [{ t: FROM_MS / 1_000 + 1, i: 5, o: 7, c: "1500", cache: 3, r: 2, n: 4 }],
      sum: { cost: 1_500 },
    }));
    const reading = await read(
      `{ url: "${server.origin}/x", rows: /list, costUnit: nanoUsd, inputExcludesCache: true, outputExcludesReasoning: true, totals: { cost: /sum/cost }, fields: { time: /t, input: /i, output: /o, cost: /c, cachedInput: /cache, reasoning: /r, requests: /n } }`,
    );
    expect(reading.rows).toMatchObject([
      { input: 8, cachedInput: 3, output: 9, reasoning: 2, costMicroUsd: 1.5, requests: 4 },
    ]);
    expect(reading.totals).toEqual({ cost: 1.5 });
  });

  test("a command gets the query and prints the rows", async () => {
    const script = `const q = JSON.parse(require('node:fs').readFileSync(0, 'utf8')); console.log(JSON.stringify([{ t: q.from, i: 1, o: 1, c: 1, k: q.key }]))`;
    const { problem, rows } = await read(`{ command: ${JSON.stringify(`node -e "${script}"`)}, ${FIELDS} }`);
    expect(problem).toBeNull();
    expect(rows).toMatchObject([{ timeMs: FROM_MS, isOwnKey: true }]);
  });

  test("a row of another key is marked", async () => {
    await using server = await serving(() => [ROW, { ...ROW, k: "another" }]);
    const { rows } = await read(`{ url: "${server.origin}/x", ${FIELDS} }`);
    expect(rows.map(({ isOwnKey }) => isOwnKey)).toEqual([true, false]);
  });
});

describe("what cannot be used is a problem, and no row of it is", () => {
  test.each<[string, string, RegExp]>([
    ["a web page", "<!doctype html><title>Sign in</title>", /is not JSON: it begins with "<!doctype html>/],
    ["nothing", "", /is empty/],
    ["a text", '"ok"', /its response is "ok"; expected a list of rows/],
    ["an object", '{"rows":[]}', /its response is an object; expected a list/],
    ["rows that are none", "[1]", /row 1 is 1; expected an object/],
    ["no time", JSON.stringify([ROW, { ...ROW, t: undefined }]), /row 2 has no time \(\/t\)/],
    ["a time that is none", JSON.stringify([{ ...ROW, t: "soon" }]), /row 1 has "soon" as time/],
    ["no tokens", JSON.stringify([{ ...ROW, i: undefined }]), /row 1 has no input \(\/i\)/],
    [
      "tokens in words",
      JSON.stringify([{ ...ROW, o: "many" }]),
      /row 1 has "many" as output \(\/o\); expected a number/,
    ],
    ["no cost", JSON.stringify([{ ...ROW, c: undefined }]), /row 1 has no cost \(\/c\)/],
    ["no key", JSON.stringify([{ ...ROW, k: undefined }]), /row 1 has no key \(\/k\)/],
  ])("%s", async (_what, body, expected) => {
    await using server = await serving(body);
    const { problem, rows } = await read(`{ url: "${server.origin}/x", ${FIELDS} }`);
    expect(problem).toMatch(expected);
    expect(rows).toEqual([]);
  });

  test("an error, silence, endless pages, and a command that fails", async () => {
    await using denied = await serving('{"error":"no token"}', 401);
    expect((await read(`{ url: "${denied.origin}/x", ${FIELDS} }`)).problem).toMatch(/^responded with 401: .*no token/);
    await using endless = await serving(() => ({ rows: [ROW], next: "again" }));
    const paged = `{ url: "${endless.origin}/x?a={next}", rows: /rows, next: /next, ${FIELDS} }`;
    expect((await read(paged)).problem).toMatch(/names the same next page twice/);
    const gone = await serving("[]");
    await gone[Symbol.asyncDispose]();
    expect((await read(`{ url: "${gone.origin}/x", ${FIELDS} }`)).problem).toMatch(/did not respond/);
    expect((await read(`{ command: "exit 3", ${FIELDS} }`)).problem).toMatch(/^command failed: exit 3/);
    await using totals = await serving("[]");
    expect((await read(`{ url: "${totals.origin}/x", totals: { cost: /sum }, ${FIELDS} }`)).problem).toMatch(
      /\/sum is missing/,
    );
  });
});
