// real-time: compares durations that it measures
import { describe, expect, test } from "vitest";
import type { GatewayOptions } from "../../src/reference-gateway/index.ts";
import type { Reply, TestRequest } from "./support/client.ts";
import { type Fixture, startFixture } from "./support/gateway-fixture.ts";
import { TestClock } from "./support/test-clock.ts";

const row = ({ status, headers }: Reply) => `${status} ${headers["x-service-error-code"] ?? ""}`.trim();

/** The two keys of the account with 20 requests per minute. */
const narrow = ({ ready }: Fixture) => ready.limited[0] ?? { key: "", second: "" };

/** The two keys of the account with a concurrency limit of 4. */
const few = ({ ready }: Fixture) => ready.limited[1] ?? { key: "", second: "" };

describe("the request rate", () => {
  test("is one limit for both keys, both dialects, all models, streaming and non-streaming", async () => {
    await using fixture = await startFixture({ clock: new TestClock() });
    const { key, second } = narrow(fixture);
    const send = [
      () => fixture.chat({}, { key }),
      () => fixture.chat({ stream: true }, { key: second }),
      () => fixture.messages({}, { key: second }),
      () => fixture.messages({ stream: true, model: "shout-fast" }, { key }),
    ];
    for (let turn = 0; turn < 20; turn += 1) expect((await send[turn % 4]?.())?.status).toBe(200);
    for (const again of send) expect(row(await again())).toBe("429 rate_limit_exceeded");
    expect((await fixture.chat()).status).toBe(200);
  });

  test("is denied with the wait and the state of the limit", async () => {
    const clock = new TestClock();
    await using fixture = await startFixture({ clock });
    const { key } = narrow(fixture);
    expect((await fixture.chat({}, { key })).headers).toMatchObject({
      "x-ratelimit-limit": "20",
      "x-ratelimit-remaining": "19",
    });
    clock.pass(15_300);
    for (let turn = 0; turn < 19; turn += 1) await fixture.chat({}, { key });
    const denied = await fixture.chat({}, { key });
    expect(row(denied)).toBe("429 rate_limit_exceeded");
    expect(denied.headers).toMatchObject({
      "retry-after": "45",
      "x-ratelimit-limit": "20",
      "x-ratelimit-remaining": "0",
      "x-service-action": "wait",
    });
    clock.pass(44_000);
    expect((await fixture.chat({}, { key })).status).toBe(429);
    clock.pass(1_000);
    expect((await fixture.chat({}, { key })).status).toBe(200);
    expect((await fixture.chat({}, { key })).status).toBe(429);
  });

  test.each<[string, GatewayOptions, number]>([
    ["sliding-log", { limiter: "sliding-log" }, 20],
    ["fixed-window", { limiter: "fixed-window" }, 20],
    ["token-bucket", { limiter: "token-bucket" }, 20],
    ["token-bucket with a burst of 5", { limiter: "token-bucket", burst: 5 }, 5],
    ["paced", { limiter: "paced" }, 1],
  ])("with %s enforces its limit", async (_name, options, burst) => {
    const clock = new TestClock();
    await using fixture = await startFixture({ clock, ...options });
    const { key } = narrow(fixture);
    let admitted = 0;
    let reply = await fixture.chat({}, { key });
    while (reply.status === 200) {
      admitted += 1;
      reply = await fixture.chat({}, { key });
    }
    expect(admitted).toBe(burst);
    const wait = Number(reply.headers["retry-after"]);
    expect(wait).toBeGreaterThan(0);
    expect(wait).toBeLessThanOrEqual(60);
    clock.pass(wait * 1_000);
    expect((await fixture.chat({}, { key })).status).toBe(200);
  });

  test("is not affected by refused requests, by listing, or by a shift of the wall clock", async () => {
    await using fixture = await startFixture({ clock: new TestClock() });
    const { key } = narrow(fixture);
    const account = async () =>
      (await fixture.admin("GET", "/accounts")).find(({ name }: { name: string }) => name === "limited1");
    const others: TestRequest[] = [
      { path: "/models" },
      { path: "/chat/completions", body: "{" },
      { path: "/chat/completions", body: { model: "no-such-model", messages: [{ role: "user", content: "hi" }] } },
    ];
    for (const requested of others) await fixture.send({ ...requested, key });
    await fixture.admin("POST", "/clock", { shiftWallMs: 86_400_000 });
    expect((await account()).rateRemaining).toBe(20);
    await fixture.chat({ model: "fail-500" }, { key });
    expect((await account()).rateRemaining).toBe(19);
    await fixture.admin("POST", "/clock", { shiftWallMs: -86_400_000 });
    expect((await account()).rateRemaining).toBe(19);
    await fixture.admin("POST", "/clock", { skipMs: 60_000 });
    expect((await account()).rateRemaining).toBe(20);
  });
});

describe("the concurrency limit of an account", () => {
  /** Opens a stream and waits for its first byte. */
  async function open(fixture: Fixture, key: string, requested: Partial<TestRequest> = {}) {
    let opened = () => {};
    const first = new Promise<void>((resolve) => {
      opened = resolve;
    });
    const done = fixture.chat({ model: "slow", stream: true }, { key, onPiece: () => opened(), ...requested });
    await Promise.race([first, done]);
    return done;
  }
  const full = async (fixture: Fixture, requested?: Partial<TestRequest>) => {
    const { key, second } = few(fixture);
    const held: Promise<Reply>[] = [];
    for (const own of [key, second, key, second]) {
      const started = open(fixture, own, requested);
      held.push(started.then((done) => done));
    }
    await new Promise((resolve) => setTimeout(resolve, 40));
    return held;
  };

  test("are admitted up to the limit, and denied beyond", async () => {
    await using fixture = await startFixture({ slowMs: 400 });
    const { key } = few(fixture);
    const replies = await Promise.all(Array.from({ length: 9 }, () => fixture.chat({ model: "slow" }, { key })));
    expect(replies.map(row).sort()).toEqual([
      ...Array.from({ length: 4 }, () => "200"),
      ...Array.from({ length: 5 }, () => "429 concurrency_limit_exceeded"),
    ]);
    const denied = replies.find(({ status }) => status === 429);
    expect(denied?.headers).toMatchObject({ "retry-after": "1", "x-service-action": "reduce_parallelism" });
    expect((await fixture.chat({}, { key })).status).toBe(200);
  });

  test("are held by a stream until its last byte, and free immediately after it", async () => {
    await using fixture = await startFixture({ slowMs: 500 });
    const held = await full(fixture);
    await new Promise((resolve) => setTimeout(resolve, 300));
    for (const send of [fixture.chat, fixture.messages]) {
      for (const stream of [false, true]) {
        expect(row(await send({ stream }, { key: few(fixture).key }))).toBe("429 concurrency_limit_exceeded");
      }
    }
    expect((await Promise.all(held)).map((reply) => `${reply.status} ${reply.end}`)).toEqual(
      Array.from({ length: 4 }, () => "200 complete"),
    );
    expect((await fixture.chat({}, { key: few(fixture).second })).status).toBe(200);
  });

  test.each([
    ["a stream", true],
    ["a non-streaming reply", false],
  ])("are released when the client leaves %s", async (_name, stream) => {
    await using fixture = await startFixture({ slowMs: 20_000 });
    const { key } = few(fixture);
    const left = new AbortController();
    const held = Array.from({ length: 4 }, () => fixture.chat({ model: "slow", stream }, { key, signal: left.signal }));
    const inFlight = async () =>
      (await fixture.admin("GET", "/accounts")).find(({ name }: { name: string }) => name === "limited2").inFlight;
    while ((await inFlight()) < 4) await new Promise((resolve) => setTimeout(resolve, 5));
    left.abort();
    await Promise.all(held);
    while ((await inFlight()) > 0) await new Promise((resolve) => setTimeout(resolve, 5));
    expect((await fixture.chat({}, { key })).status).toBe(200);
  });

  test("are released after every kind of end, wave after wave", async () => {
    await using fixture = await startFixture({ slowMs: 30 });
    const { key } = few(fixture);
    const kinds = ["slow", "fail-500", "fail-timeout", "drop-midstream", "no-such-model", "echo-fast"];
    for (let wave = 0; wave < 24; wave += 1) {
      const model = kinds[wave % kinds.length];
      const replies = await Promise.all(
        Array.from({ length: 4 }, (_none, at) =>
          (at % 2 === 0 ? fixture.chat : fixture.messages)({ model, stream: wave % 4 < 2 }, { key }),
        ),
      );
      expect(replies.map(({ headers }) => headers["x-service-error-code"])).not.toContain("concurrency_limit_exceeded");
    }
  });

  test("are not used by listing", async () => {
    await using fixture = await startFixture({ slowMs: 300 });
    const held = await full(fixture);
    expect((await fixture.send({ path: "/models", key: few(fixture).key })).status).toBe(200);
    await Promise.all(held);
  });
});
