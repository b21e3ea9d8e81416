// real-time: compares durations that it measures
import { expect, test } from "vitest";
import { EXIT, UsageError } from "../../src/core/index.ts";
import { type GatewayOptions, startGateway } from "../../src/reference-gateway/index.ts";
import { keepAlive } from "./support/client.ts";
import { startFixture } from "./support/gateway-fixture.ts";

test.each<[string, GatewayOptions, RegExp]>([
  ["a tier that does not exist", { tier: "huge" as never }, /tier: "huge" is not one of starter, growth, scale/],
  ["limits of nothing", { limits: { rpm: 0, inFlight: 1 } }, /limits \(requests per minute\): 0/],
  ["a limiter that does not exist", { limiter: "leaky" as never }, /limiter: "leaky" is not one of sliding-log/],
  ["a burst without a bucket", { burst: 5 }, /burst: only the limiter token-bucket/],
  ["a burst of nothing", { limiter: "token-bucket", burst: 0 }, /burst: 0 is not/],
  ["a limit of no tokens", { tokens: { perMinute: 0 } }, /tokens-per-minute: 0 is not/],
  [
    "tokens that are counted in an unknown way",
    { tokens: { perMinute: 9, counts: "output" as never } },
    /token-counts: "output" is not one of total, prompt, reserved/,
  ],
  ["a port that does not exist", { port: 70_000 }, /port: 70000/],
  ["a seed that is not a number", { seed: Number.NaN }, /seed: NaN/],
  [
    "a mutation that does not exist",
    { mutations: ["auth.revoked-served"] },
    /no mutation "auth.revoked-served".*Similar: auth\./,
  ],
  [
    "the beginning of a mutation's name",
    { mutations: ["auth.unknown-key-40"] },
    /Similar: auth\.unknown-key-40[\w-]+, auth\.unknown-key-40/,
  ],
  ["a variant that does not exist", { variants: ["json.beautiful"] }, /no variant "json.beautiful"/],
  ["a key for nobody", { keys: { vaild: "gk-12345678" } }, /no ready-made key is named "vaild"/],
  ["two keys with one text", { keys: { valid: "gk-12345678", second: "gk-12345678" } }, /same text as another key/],
])("%s is an error of use", async (_name, options, message) => {
  const failed = await startGateway(options).catch((thrown: unknown) => thrown);
  expect(failed).toBeInstanceOf(UsageError);
  expect(failed).toMatchObject({ message: expect.stringMatching(message), exit: EXIT.usage });
});

test("a port that is taken is an error of use", async () => {
  await using first = await startFixture();
  const port = Number(new URL(first.ready.baseUrl).port);
  await expect(startGateway({ port })).rejects.toThrow(/cannot listen on 127\.0\.0\.1:\d+: the port is taken$/);
});

test("the ready line names everything that a client needs", async () => {
  await using fixture = await startFixture({
    tier: "growth",
    keys: { valid: "gk-chosen-by-me", starterSecond: "gk-other-by-me" },
  });
  const { ready } = fixture;
  expect(ready).toMatchObject({
    event: "ready",
    pid: process.pid,
    baseUrl: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/v1$/),
    adminUrl: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
    limits: { rpm: 1_000, inFlight: 200 },
    models: { chat: "echo-fast", unknown: "no-such-model", upstreamError: "fail-500" },
    limited: [{ limits: { rpm: 20, inFlight: 4 } }, { limits: { rpm: 6_000, inFlight: 4 } }],
  });
  expect([ready.keys.valid, ready.tiers.starter.second]).toEqual(["gk-chosen-by-me", "gk-other-by-me"]);
  for (const [name, key] of Object.entries(ready.keys)) {
    const { status } = await fixture.send({ path: "/models", key });
    expect([name, status]).toEqual([name, name === "revoked" ? 401 : 200]);
  }
  for (const key of [...ready.limited, ...Object.values(ready.tiers)].flatMap((pair) => [pair.key, pair.second])) {
    expect((await fixture.chat({}, { key })).status).toBe(200);
  }
});

test("keys differ from start to start", async () => {
  await using one = await startFixture();
  await using other = await startFixture();
  expect(one.ready.keys.valid).not.toBe(other.ready.keys.valid);
  expect((await other.chat({}, { key: one.ready.keys.valid })).status).toBe(401);
});

test("draining lets running streams complete", async () => {
  const fixture = await startFixture({ slowMs: 400 });
  const stream = fixture.chat({ model: "slow", stream: true });
  await new Promise((resolve) => setTimeout(resolve, 100));
  await fixture.gateway.drain();
  expect(await stream).toMatchObject({ status: 200, end: "complete" });
  expect((await fixture.chat()).error).toBe("ECONNREFUSED");
});

test("draining does not wait for idle connections", async () => {
  const fixture = await startFixture({ slowMs: 200 });
  const agent = keepAlive();
  const stream = fixture.chat({ model: "slow", stream: true }, { agent });
  await new Promise((resolve) => setTimeout(resolve, 50));
  const startMs = performance.now();
  await fixture.gateway.drain();
  expect(await stream).toMatchObject({ end: "complete" });
  expect(performance.now() - startMs).toBeLessThan(1_500);
  agent.destroy();
});

test("draining is bounded", async () => {
  const fixture = await startFixture({ slowMs: 60_000, drainMs: 100 });
  const stream = fixture.chat({ model: "slow", stream: true });
  await new Promise((resolve) => setTimeout(resolve, 50));
  const startMs = performance.now();
  await fixture.gateway.drain();
  expect(performance.now() - startMs).toBeLessThan(1_000);
  expect((await stream).end).toBe("aborted");
});
