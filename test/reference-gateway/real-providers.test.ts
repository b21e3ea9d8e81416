// real-time: compares durations that it measures
import { Agent, request } from "node:http";
import { describe, expect, test } from "vitest";
import { UsageError } from "../../src/core/index.ts";
import type { UpstreamRequest } from "../../src/upstream/index.ts";
import { upstreamOf } from "../upstream/support.ts";
import { eventsOf, jsonOf, type Reply, streamText } from "./support/client.ts";
import { startFixture } from "./support/gateway-fixture.ts";

const KEY = "sk-of-the-operator-4711";

/** A gateway in front of an upstream with a scenario; it tries the providers in order. */
async function inFront(scenario: object = { providers: { one: { models: { m: {} } } } }, options: object = {}) {
  const upstream = await upstreamOf(scenario);
  const providers = Object.values(upstream.providers).map((baseUrl) => ({ baseUrl, key: KEY }));
  const fixture = await startFixture({ upstreamTimeoutMs: 5_000, ...options, upstream: providers });
  // Requests at the start.
  await upstream.control("/requests", { method: "DELETE" });
  return {
    ...fixture,
    upstream,
    chat: (body: object = {}, requested = {}) => fixture.chat({ model: "m", ...body }, requested),
    messages: (body: object = {}, requested = {}) => fixture.messages({ model: "m", ...body }, requested),
    /** The inference requests that reached the providers. */
    posts: async () => (await upstream.requests()).filter(({ method }) => method === "POST"),
    balance: async () => (await accountOf(fixture)).balanceMicroUsd as number,
    inFlight: async () => (await accountOf(fixture)).inFlight as number,
    async [Symbol.asyncDispose]() {
      await fixture[Symbol.asyncDispose]();
      await upstream[Symbol.asyncDispose]();
    },
  };
}

async function accountOf(fixture: Awaited<ReturnType<typeof startFixture>>) {
  const accounts = await fixture.admin("GET", "/accounts");
  return accounts[0];
}

async function until<T>(read: () => Promise<T>, holds: (value: T) => boolean): Promise<T> {
  for (;;) {
    const value = await read();
    if (holds(value)) return value;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

describe("what is passed on", () => {
  test.each(["chat", "messages"] as const)("%s: a reply and a stream of the provider", async (dialect) => {
    await using gateway = await inFront();
    const reply = await gateway[dialect]();
    expect(reply).toMatchObject({ status: 200, end: "complete" });
    expect(jsonOf(reply)).toMatchObject({ model: "m", usage: expect.any(Object) });
    expect(reply.headers["x-request-id"]).toMatch(/^req_/);
    const stream = await gateway[dialect]({ stream: true });
    expect(stream).toMatchObject({ status: 200, end: "complete" });
    expect(streamText(stream)).not.toBe("");
    expect(eventsOf(stream).at(-1)?.data).toMatch(dialect === "chat" ? /\[DONE\]/ : /message_stop/);
    const paths = (await gateway.posts()).map(({ path }) => path);
    expect(new Set(paths)).toEqual(new Set([`/one/v1/${dialect === "chat" ? "chat/completions" : "messages"}`]));
  });

  test("the body as it arrived, with images, unknown fields and its spaces", async () => {
    await using gateway = await inFront();
    const content = [{ type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } }];
    const body = `{ "zeta":1,  "model":"m", "messages":${JSON.stringify([{ role: "user", content }])}, "alpha": [1.50] }`;
    expect((await gateway.send({ path: "/chat/completions", body })).status).toBe(200);
    expect((await gateway.posts())[0]?.body).toBe(body);
  });

  test("the operator's key instead of the caller's, over one connection", async () => {
    await using gateway = await inFront();
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    for (let index = 0; index < 3; index++)
      await gateway.messages({}, { agent, headers: { "x-api-key": gateway.ready.keys.second } });
    agent.destroy();
    const posts = await gateway.posts();
    const direct = async (key: string) => {
      await gateway.upstream.post("chat/completions", { model: "m" }, { headers: { authorization: `Bearer ${key}` } });
      return credentialsOf((await gateway.posts()).at(-1))[0];
    };
    const [own, callers] = [await direct(KEY), await direct(gateway.ready.keys.valid)];
    for (const post of posts) expect(credentialsOf(post)).toEqual([own]);
    expect(callers).not.toBe(own);
    expect(new Set(posts.map(({ connection }) => connection)).size).toBe(1);
  });
});

function credentialsOf(post: UpstreamRequest | undefined): string[] {
  const named = (post?.headers ?? []).filter(([name]) => /^(authorization|x-api-key)$/i.test(name));
  return named.map(([, value]) => value.replace(/^Bearer /, ""));
}

describe("providers that fail", () => {
  const failing = (behaviour: object) => ({
    providers: { one: { models: { m: behaviour } }, two: { models: { m: {} } } },
  });

  test.each<[what: string, behaviour: object]>([
    ["an error", { error: { status: 500 } }],
    ["too many requests", { error: { status: 429, retryAfter: 30 } }],
    ["the operator's key refused", { error: { status: 401 } }],
    ["a reset before the head", { break: { how: "reset", at: "before-head" } }],
    ["silence", { break: { how: "stall", at: "before-head" } }],
  ])("%s: the next one serves, each is called once", async (_, behaviour) => {
    await using gateway = await inFront(failing(behaviour), { upstreamTimeoutMs: 300 });
    const reply = await gateway.chat();
    expect(reply.status).toBe(200);
    expect(jsonOf(reply).model).toBe("m");
    expect((await gateway.posts()).map(({ provider }) => provider)).toEqual(["one", "two"]);
  });

  test("an invalid request is not sent twice", async () => {
    await using gateway = await inFront(failing({ error: { status: 400 } }));
    expect((await gateway.chat()).status).toBe(502);
    expect(await gateway.posts()).toHaveLength(1);
  });

  test.each<[what: string, behaviour: object, status: number, reason: string]>([
    ["503", { error: { status: 503 } }, 503, "upstream_error"],
    ["429", { error: { status: 429, retryAfter: 5 } }, 502, "upstream_error"],
    ["402", { error: { status: 402 } }, 502, "upstream_error"],
    ["a reset", { break: { how: "reset", at: "before-head" } }, 502, "upstream_error"],
    ["silence", { break: { how: "stall", at: "before-head" } }, 504, "upstream_timeout"],
    ["a reply that is cut", { break: { how: "close", at: 1 } }, 502, "upstream_error"],
  ])("%s of the only provider: what the caller and the history learn of it, free of charge", async (...given) => {
    const [, behaviour, status, reason] = given;
    const scenario = { providers: { one: { models: { m: behaviour } } } };
    await using gateway = await inFront(scenario, { upstreamTimeoutMs: 300 });
    const before = await gateway.balance();
    const reply = await gateway.chat();
    expect(reply).toMatchObject({ status, headers: { "x-service-error-code": reason } });
    expect(reply.headers["retry-after"]).toBeUndefined();
    const [row] = (await gateway.admin("GET", "/history")).slice(-1);
    expect(row).toMatchObject({ status, outcome: "failed", upstreamError: expect.any(String), chargeMicroUsd: 0 });
    expect(await gateway.balance()).toBe(before);
  });

  test("what a provider says about the operator's key is not passed on", async () => {
    const error = { status: 500, message: `no such key ${KEY}` };
    await using gateway = await inFront({ providers: { one: { models: { m: { error } } } } });
    const reply = await gateway.chat();
    expect(reply.bytes.toString()).not.toContain(KEY);
    expect(JSON.stringify(await gateway.admin("GET", "/history"))).toContain("no such key [redacted]");
  });

  test.each(["chat", "messages"] as const)(
    "%s: an interrupted stream ends in an error, and is free",
    async (dialect) => {
      await using gateway = await inFront({
        providers: { one: { models: { m: { break: { how: "reset", at: 4 } } } } },
      });
      const before = await gateway.balance();
      const reply = await gateway[dialect]({ stream: true });
      expect(reply).toMatchObject({ status: 200, end: "aborted" });
      expect(eventsOf(reply).at(-1)?.data).toMatch(/"error":/);
      expect(await until(gateway.inFlight, (count) => count === 0)).toBe(0);
      expect(await gateway.balance()).toBe(before);
      const [row] = (await gateway.admin("GET", "/history")).slice(-1);
      expect(row).toMatchObject({ outcome: "broken", upstreamError: expect.any(String) });
    },
  );

  test("a model that the provider does not list is not requested", async () => {
    await using gateway = await inFront();
    expect((await gateway.chat({ model: "other" })).status).toBe(404);
    expect(await gateway.posts()).toEqual([]);
  });
});

describe("a caller that disconnects", () => {
  test.each<[when: string, behaviour: object, stream: boolean]>([
    ["before the head", { latencyMs: 60_000 }, false],
    ["before the first token", { firstTokenMs: 60_000 }, true],
    ["in the middle of a stream", { pieces: 1_000, gapMs: 20 }, true],
  ])("%s: the request to the provider is aborted as well, and the slot is free", async (_, behaviour, stream) => {
    await using gateway = await inFront({ providers: { one: { models: { m: behaviour } }, two: {} } });
    const leave = new AbortController();
    const requested = gateway.chat({ stream }, { signal: leave.signal });
    await until(gateway.posts, ([post]) => post !== undefined && (!stream || (post.sentEvents ?? 0) >= 0));
    leave.abort();
    await requested;
    const [post] = await until(gateway.posts, ([first]) => first?.end !== undefined);
    expect(post?.end).toBe("gateway-left");
    expect(await until(gateway.inFlight, (count) => count === 0)).toBe(0);
    expect(await gateway.posts()).toHaveLength(1);
  });

  test("one that reads slowly slows the provider", async () => {
    const long = { pieces: 400, pieceBytes: 200_000 };
    await using gateway = await inFront({ providers: { one: { models: { m: long } } } });
    const { baseUrl, keys } = gateway.ready;
    const sent = request(`${baseUrl}/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${keys.valid}`, "content-type": "application/json" },
    });
    sent.end(JSON.stringify({ model: "m", stream: true, messages: [{ role: "user", content: "go" }] }));
    await new Promise<void>((resolve) => sent.once("response", (response) => resolve(void response.pause())));
    // Two samples of the provider between which nothing changes: it waits for the reader.
    let before = -1;
    const [post] = await until(gateway.posts, ([first]) => {
      const events = first?.sentEvents ?? 0;
      const isStill = events > 0 && events === before;
      before = events;
      return isStill;
    });
    expect(post?.sentEvents).toBeLessThan(400);
    expect(post?.end).toBeUndefined();
    sent.destroy();
  });
});

describe("charges", () => {
  const usage = { input: 2_000, cached: 1_900, output: 50 };
  const models = { m: { usage } };

  test.each<[dialect: "chat" | "messages", stream: boolean]>([
    ["chat", false],
    ["messages", false],
    ["messages", true],
  ])("%s, stream %s: by the usage of the provider, cached input included", async (dialect, stream) => {
    await using gateway = await inFront({ providers: { one: { models } } });
    const before = await gateway.balance();
    const reply: Reply = await gateway[dialect]({ stream });
    expect(reply.end).toBe("complete");
    const [row] = await until(
      async () => (await gateway.admin("GET", "/history")).slice(-1),
      ([last]) => last?.outcome === "complete",
    );
    expect(row).toMatchObject({ inputTokens: 2_000, outputTokens: 50, cachedTokens: 1_900, chargeMicroUsd: 3_300 });
    // Four micro-dollars per input token, one if it was cached, and twenty per output token.
    expect(before - (await gateway.balance())).toBe(4 * 100 + 1_900 + 20 * 50);
  });

  test("a caller that disconnects from a stream pays for what it got", async () => {
    await using gateway = await inFront({ providers: { one: { models: { m: { pieces: 1_000, gapMs: 10 } } } } });
    const leave = new AbortController();
    const requested = gateway.chat(
      { stream: true, max_tokens: 1_000 },
      { signal: leave.signal, onPiece: () => undefined },
    );
    await until(gateway.posts, ([post]) => (post?.sentEvents ?? 0) > 5);
    leave.abort();
    await requested;
    const [row] = await until(
      async () => (await gateway.admin("GET", "/history")).slice(-1),
      ([last]) => last !== undefined,
    );
    expect(row.outcome).toBe("interrupted");
    expect(row.outputTokens).toBeGreaterThan(0);
    expect(row.outputTokens).toBeLessThan(1_000);
  });
});

test.each<[what: string, upstream: string, says: RegExp]>([
  ["no address", "9100", /upstream: "9100" is not an address/],
  ["nobody there", "http://127.0.0.1:1/v1", /127\.0\.0\.1:1\/v1 does not list its models/],
])("%s is a usage error", async (_, baseUrl, says) => {
  const starting = startFixture({ upstream: [{ baseUrl, key: undefined }] });
  await expect(starting).rejects.toThrow(UsageError);
  await expect(startFixture({ upstream: [{ baseUrl, key: undefined }] })).rejects.toThrow(says);
});
