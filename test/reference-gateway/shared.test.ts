import { existsSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { type Gateway, type GatewayOptions, startGateway } from "../../src/reference-gateway/index.ts";
import { temporaryFolder } from "../support/gauntlet.ts";

interface Sent {
  readonly status: number;
  readonly reason: string | null;
  readonly retryAfter: string | null;
}

const LIMITS = { rpm: 10, inFlight: 3 };

/** Two replicas that share their state, in this process. */
async function replicas(options: GatewayOptions = {}) {
  const folder = temporaryFolder();
  const shared = join(folder.path, "shared.db");
  const one = await startGateway({ limits: LIMITS, ...options, shared });
  const other = await startGateway({ limits: LIMITS, ...options, shared });
  return {
    one,
    other,
    shared,
    async [Symbol.asyncDispose]() {
      await other.destroy();
      await one.destroy();
      folder[Symbol.dispose]();
    },
  };
}

async function send({ ready }: Gateway, key: string, model = "echo-fast"): Promise<Sent> {
  const response = await fetch(`${ready.baseUrl}/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify({ model, messages: [{ role: "user", content: "hello" }] }),
  });
  await response.text();
  return {
    status: response.status,
    reason: response.headers.get("x-service-error-code"),
    retryAfter: response.headers.get("retry-after"),
  };
}

async function admin(
  { ready }: Gateway,
  method: string,
  path: string,
  body?: object,
): Promise<Record<string, unknown>> {
  const response = await fetch(ready.adminUrl + path, {
    method,
    headers: { authorization: `Bearer ${ready.adminToken}`, "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return (await response.json()) as Record<string, unknown>;
}

describe("replicas that share their state", () => {
  test("have the same keys, models and limits, in a file that only its owner can read", async () => {
    await using both = await replicas();
    const { baseUrl: _, adminUrl: __, adminToken: ___, ...one } = both.one.ready;
    const { baseUrl: ____, adminUrl: _____, adminToken: ______, ...other } = both.other.ready;
    expect(other).toEqual(one);
    expect(statSync(both.shared).mode & 0o777).toBe(0o600);
  });

  test.each(["sliding-log", "fixed-window", "token-bucket"] as const)("share a %s rate limit", async (limiter) => {
    await using both = await replicas({ limiter });
    const { valid } = both.one.ready.keys;
    const sent: Sent[] = [];
    for (let index = 0; index < 12; index++) sent.push(await send(index % 2 === 0 ? both.one : both.other, valid));
    const denied = sent.filter(({ status }) => status === 429);
    expect(sent.slice(0, 10).map(({ status }) => status)).toEqual(Array(10).fill(200));
    expect(denied.map(({ reason }) => reason)).toEqual(Array(2).fill("rate_limit_exceeded"));
    const [one = 0, other = 0] = denied.map(({ retryAfter }) => Number(retryAfter));
    expect(Math.abs(one - other)).toBeLessThanOrEqual(1);
  });

  test("share a concurrency limit, and count a request until it has ended anywhere", async () => {
    await using both = await replicas({ limits: { rpm: 1_000, inFlight: 3 }, slowMs: 400 });
    const { valid } = both.one.ready.keys;
    const holding = [send(both.one, valid, "slow"), send(both.other, valid, "slow"), send(both.one, valid, "slow")];
    const inFlight = async () => (await admin(both.other, "GET", "/accounts/acct_1r1"))["inFlight"];
    await expect.poll(inFlight).toBe(3);
    expect(await send(both.other, valid)).toMatchObject({ status: 429, reason: "concurrency_limit_exceeded" });
    expect(await send(both.one, valid)).toMatchObject({ status: 429, reason: "concurrency_limit_exceeded" });
    expect((await Promise.all(holding)).map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(await send(both.other, valid)).toMatchObject({ status: 200 });
    expect(await inFlight()).toBe(0);
  });

  test.each([
    ["cappable", 402, "quota_exceeded"],
    ["childSmall", 429, "budget_exhausted"],
  ] as const)("share the spend of %s", async (name, status, reason) => {
    await using both = await replicas({ limits: { rpm: 1_000, inFlight: 3 } });
    const key = both.one.ready.keys[name];
    let served = 0;
    for (let index = 0; index < 60; index++)
      if ((await send(index % 2 === 0 ? both.one : both.other, key)).status === 200) served++;
    // By one replica alone: the same.
    expect(served).toBeGreaterThanOrEqual(35);
    expect(served).toBeLessThanOrEqual(45);
    for (const gateway of [both.one, both.other]) expect(await send(gateway, key)).toMatchObject({ status, reason });
  });

  test("know a key that was created, revoked or raised on another", async () => {
    await using both = await replicas();
    const { key, id } = await admin(both.one, "POST", "/keys", { account: "acct_1r1", capMicroUsd: 0 });
    const limited = await send(both.other, String(key));
    expect(limited).toMatchObject({ status: 402, reason: "quota_exceeded" });
    await admin(both.other, "PATCH", `/keys/${String(id)}`, { capMicroUsd: null });
    expect(await send(both.one, String(key))).toMatchObject({ status: 200 });
    await admin(both.one, "PATCH", `/keys/${String(id)}`, { revoked: true });
    expect(await send(both.other, String(key))).toMatchObject({ status: 401, reason: "key_revoked" });
    await admin(both.other, "PATCH", "/accounts/acct_1r1", { balanceMicroUsd: 0 });
    expect(await send(both.one, both.one.ready.keys.valid)).toMatchObject({
      status: 402,
      reason: "insufficient_credits",
    });
  });

  test("a replica that is started later takes over everything, also from one that has ended", async () => {
    await using both = await replicas();
    const { valid } = both.one.ready.keys;
    for (let index = 0; index < 10; index++) await send(both.one, valid);
    await both.one.destroy();
    await using third = await startGateway({ limits: LIMITS, shared: both.shared });
    expect(third.ready.keys.valid).toBe(valid);
    expect(await send(third, valid)).toMatchObject({ status: 429, reason: "rate_limit_exceeded" });
    expect(await admin(third, "GET", "/history")).toHaveLength(11);
  });

  test.each<[what: string, options: GatewayOptions, problem: string]>([
    ["a data file", { data: "unused.db" }, "data: cannot be used with shared, because replicas do not share it"],
    [
      "a token limit",
      { tokens: { perMinute: 100 } },
      "tokens-per-minute: cannot be used with shared, because replicas do not share it",
    ],
    ["other key texts", { keys: { valid: "sk-another-key" } }, 'keys: "valid" differs from the key'],
  ])("reject %s", async (_what, options, problem) => {
    await using both = await replicas();
    await expect(startGateway({ ...options, shared: both.shared })).rejects.toThrow(problem);
    expect(existsSync("unused.db")).toBe(false);
  });

  test("reject a file of another program", async () => {
    using folder = temporaryFolder();
    const path = join(folder.path, "notes.txt");
    writeFileSync(path, "not a database, and long enough to have a header of one hundred bytes ".repeat(4));
    await expect(startGateway({ shared: path })).rejects.toThrow("was not created by gauntlet gateway --shared");
  });
});

describe("a shared file that is locked", () => {
  /** Another program that has the file. */
  async function locked(path: string) {
    const { default: Database } = await import("libsql");
    const other = new Database(path);
    other.exec("BEGIN EXCLUSIVE");
    return { release: () => void other.close() };
  }

  test("requests are denied with Retry-After until it is free; what was in flight ends, and counts once", async () => {
    await using both = await replicas({ limits: { rpm: 100, inFlight: 2 }, slowMs: 1_500 });
    const { valid } = both.one.ready.keys;
    const accounts = () => admin(both.other, "GET", "/accounts/acct_1r1");
    const inFlight = async () => (await accounts())["inFlight"];
    const balance = async () => Number((await accounts())["balanceMicroUsd"]);
    const before = await balance();
    const held = send(both.one, valid, "slow");
    await expect.poll(inFlight).toBe(1);
    const lock = await locked(both.shared);
    expect(await send(both.one, valid)).toEqual({ status: 503, reason: "store_unavailable", retryAfter: "1" });
    expect(await held).toMatchObject({ status: 200 });
    expect(await send(both.other, valid)).toEqual({ status: 503, reason: "store_unavailable", retryAfter: "1" });
    lock.release();
    await expect.poll(inFlight).toBe(0);
    expect(await balance()).toBeLessThan(before);
    const rows = (await admin(both.other, "GET", "/history")) as unknown as {
      model?: string;
      chargeMicroUsd: number;
    }[];
    const charged = rows.filter(({ chargeMicroUsd }) => chargeMicroUsd > 0);
    expect(charged).toMatchObject([{ model: "slow", chargeMicroUsd: before - (await balance()) }]);
    expect(await send(both.other, valid)).toMatchObject({ status: 200 });
  }, 20_000);
});
