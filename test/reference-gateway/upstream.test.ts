// real-time: compares durations that it measures
import { describe, expect, test } from "vitest";
import { OPERATOR_KEY } from "../../src/reference-gateway/providers/failing-models.ts";
import { eventsOf, jsonOf } from "./support/client.ts";
import { startFixture } from "./support/gateway-fixture.ts";

describe("a provider's failure is a 5xx of the gateway", () => {
  test.each([
    ["fail-500", 500, "upstream_error"],
    ["fail-502", 502, "upstream_error"],
    ["fail-503", 503, "upstream_error"],
    ["fail-529", 529, "upstream_error"],
    ["fail-401", 502, "upstream_error"],
    ["fail-402", 502, "upstream_error"],
    ["fail-429", 502, "upstream_error"],
    ["fail-html", 502, "upstream_error"],
    ["fail-timeout", 504, "upstream_timeout"],
  ])("%s", async (model, status, reason) => {
    await using fixture = await startFixture();
    for (const stream of [false, true]) {
      for (const send of [fixture.chat, fixture.messages]) {
        const reply = await send({ model, stream });
        expect(reply).toMatchObject({ status, end: "complete", headers: { "x-service-error-code": reason } });
        expect(reply.headers["content-type"]).toBe("application/json; charset=utf-8");
        expect(jsonOf(reply).error.message).toMatch(/./);
        expect(reply.bytes.toString()).not.toContain(OPERATOR_KEY);
      }
    }
  });
});

test("the gateway waits for a silent provider as long as its timeout", async () => {
  await using fixture = await startFixture({ upstreamTimeoutMs: 150 });
  const startMs = performance.now();
  await fixture.chat({ model: "fail-timeout" });
  expect(performance.now() - startMs).toBeGreaterThan(145);
  expect(performance.now() - startMs).toBeLessThan(600);
});

describe("a stream that its provider interrupts", () => {
  test("reports it in the chat dialect and is cut", async () => {
    await using fixture = await startFixture();
    const reply = await fixture.chat({ model: "drop-midstream", stream: true });
    expect(reply).toMatchObject({ status: 200, end: "aborted" });
    const events = eventsOf(reply).map(({ data }) => JSON.parse(data));
    expect(events.at(-1)).toEqual({
      error: { message: expect.any(String), type: "server_error", code: 502, param: null },
    });
    expect(events.slice(0, -1).every(({ choices }) => choices[0].finish_reason === null)).toBe(true);
    expect(events.length).toBe(1 + 4 + 1);
  });

  test("reports it in the messages dialect and is cut", async () => {
    await using fixture = await startFixture();
    const reply = await fixture.messages({ model: "drop-midstream", stream: true });
    expect(reply).toMatchObject({ status: 200, end: "aborted" });
    const last = eventsOf(reply).at(-1);
    expect(last?.name).toBe("error");
    expect(JSON.parse(last?.data ?? "")).toMatchObject({ type: "error", error: { type: "api_error" } });
  });

  test("is a failure when it is not streamed", async () => {
    await using fixture = await startFixture();
    expect((await fixture.chat({ model: "drop-midstream" })).status).toBe(502);
  });
});

test("the history keeps requests, their ends and what the provider said, and never a key", async () => {
  await using fixture = await startFixture();
  await fixture.chat();
  await fixture.messages({ model: "fail-401", stream: true });
  await fixture.chat({ model: "drop-midstream", stream: true });
  await fixture.chat({}, { key: fixture.ready.keys.revoked });
  await fixture.chat({}, { key: "gk-never-issued" });
  const rows = await fixture.admin("GET", "/history");
  expect(rows).toMatchObject([
    { keyId: "key_1", endpoint: "chat", model: "echo-fast", status: 200, outcome: "complete", chargeMicroUsd: 107 },
    { endpoint: "messages", stream: true, status: 502, outcome: "failed", reason: "upstream_error", chargeMicroUsd: 0 },
    { status: 200, outcome: "broken", chargeMicroUsd: 0, upstreamError: expect.stringMatching(/closed/) },
    { keyId: "key_3", status: 401, outcome: "denied", reason: "key_revoked" },
    { status: 401, outcome: "denied", reason: "invalid_api_key" },
  ]);
  expect(rows[1].upstreamError).toContain("401");
  expect(rows[4].keyId).toBeUndefined();
  expect(JSON.stringify(rows)).not.toContain(OPERATOR_KEY);
  expect(await fixture.admin("GET", "/history?account=acct_2")).toEqual([]);
});
