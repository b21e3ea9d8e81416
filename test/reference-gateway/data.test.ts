import { chmodSync, existsSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { DataFile } from "../../src/reference-gateway/data/data-file.ts";
import type { ReadyLine } from "../../src/reference-gateway/index.ts";
import { temporaryFolder } from "../support/gauntlet.ts";
import { query } from "./support/data-files.ts";
import { type Fixture, startFixture } from "./support/gateway-fixture.ts";

/** Without what differs at every start. */
const lasting = ({ pid: _pid, baseUrl: _base, adminUrl: _admin, adminToken: _token, ...rest }: ReadyLine) => rest;

/** Everything that is saved, as the admin interface reports it. */
async function stateOf(fixture: Fixture) {
  const accounts = await fixture.admin("GET", "/accounts");
  return {
    accounts: accounts.map(({ id, name, limits, balanceMicroUsd, keys }: Record<string, unknown>) => ({
      id,
      name,
      limits,
      balanceMicroUsd,
      keys,
    })),
    keys: await fixture.admin("GET", "/keys"),
    history: await fixture.admin("GET", "/history"),
  };
}

/** A test's own account: a key with cap and budget, a child key, a revoked key, and some requests. */
async function useIt(fixture: Fixture) {
  const account = await fixture.admin("POST", "/accounts", {
    name: "mine – 私の",
    limits: { rpm: 50, inFlight: 3 },
    balanceMicroUsd: 10_000,
  });
  const parent = await fixture.admin("POST", "/keys", { account: account.id, capMicroUsd: 300, budgetMicroUsd: 5_000 });
  const child = await fixture.admin("POST", "/keys", { parent: parent.id, key: "gk-chosen-by-me-1" });
  const revoked = await fixture.admin("POST", "/keys", { account: account.id });
  await fixture.admin("PATCH", `/keys/${revoked.id}`, { revoked: true });
  await fixture.admin("PATCH", `/accounts/${account.id}`, { limits: { rpm: 40, inFlight: 2 } });
  const replies = [
    await fixture.chat({}, { key: parent.key }),
    await fixture.messages({ model: "echo-stream", stream: true }, { key: parent.key }),
    await fixture.chat({ model: "fail-500" }, { key: child.key }),
    await fixture.chat({}, { key: "gk-of-nobody-at-all" }),
    await fixture.chat({}, { key: parent.key }),
    // The cap is used up.
    await fixture.chat({}, { key: parent.key }),
  ];
  expect(replies.map(({ status }) => status)).toEqual([200, 200, 500, 401, 200, 402]);
  return { account, parent, child, revoked };
}

test.each(["drain", "destroy"] as const)("after %s, the next gateway continues", async (end) => {
  using folder = temporaryFolder();
  const data = join(folder.path, "gateway.db");
  await using first = await startFixture({ data });
  const { parent, child, revoked } = await useIt(first);
  const before = await stateOf(first);
  await first.gateway[end]();

  await using second = await startFixture({ data });
  expect(lasting(second.ready)).toEqual(lasting(first.ready));
  expect(await stateOf(second)).toEqual(before);
  expect((await second.chat()).status).toBe(200);
  expect((await second.chat({}, { key: parent.key })).headers["x-service-error-code"]).toBe("quota_exceeded");
  expect((await second.chat({}, { key: revoked.key })).headers["x-service-error-code"]).toBe("key_revoked");
  expect(await second.admin("POST", "/keys/find", { key: child.key })).toMatchObject({ id: child.id });
  const added = await second.admin("POST", "/accounts", {});
  expect(added.id).toBe(`acct_${before.accounts.length + 1}`);
  const key = await second.admin("POST", "/keys", { account: added.id });
  expect(key.id).toBe(`key_${before.keys.length + 1}`);
  await second.gateway.drain();

  await using third = await startFixture({ data });
  expect((await third.admin("GET", "/accounts")).at(-1)).toMatchObject({ id: added.id, keys: [key.id] });
  const rows = await third.admin("GET", "/history");
  expect(rows.length).toBe(before.history.length + 3);
  expect(rows.slice(0, before.history.length)).toEqual(before.history);
});

test("the account with a token limit has the same key after a restart, and a limit only on request", async () => {
  using folder = temporaryFolder();
  const data = join(folder.path, "gateway.db");
  await using first = await startFixture({ data });
  await first.gateway.drain();
  await using second = await startFixture({ data, tokens: { perMinute: 500 } });
  const key = second.ready.tokenLimits?.key ?? "";
  const request = { max_tokens: 400 };
  expect((await second.chat(request, { key })).status).toBe(200);
  await second.gateway.drain();
  await using third = await startFixture({ data, tokens: { perMinute: 300 } });
  expect(third.ready.tokenLimits).toMatchObject({ key, tokensPerMinute: 300 });
  await third.gateway.drain();
  await using fourth = await startFixture({ data });
  expect(fourth.ready.tokenLimits).toBeUndefined();
  for (let turn = 0; turn < 3; turn += 1) expect((await fourth.chat(request, { key })).status).toBe(200);
});

test("the next day's cap is fresh after a restart too, and the day before is remembered", async () => {
  using folder = temporaryFolder();
  const data = join(folder.path, "gateway.db");
  await using first = await startFixture({ data });
  const cappable = await first.admin("POST", "/keys/find", { key: first.ready.keys.cappable });
  await first.chat({}, { key: first.ready.keys.cappable });
  await first.gateway.destroy();

  await using second = await startFixture({ data });
  const today = () => second.admin("GET", `/keys/${cappable.id}`);
  expect(await today()).toMatchObject({ spentTodayMicroUsd: 107, spentMicroUsd: 107 });
  await second.admin("POST", "/clock", { shiftWallMs: 86_400_000 });
  expect(await today()).toMatchObject({ spentTodayMicroUsd: 0, spentMicroUsd: 107 });
  await second.admin("POST", "/clock", { shiftWallMs: -86_400_000 });
  expect(await today()).toMatchObject({ spentTodayMicroUsd: 107 });
});

test("a stream that the end of the gateway cuts is saved with its charge", async () => {
  using folder = temporaryFolder();
  const data = join(folder.path, "gateway.db");
  await using first = await startFixture({ data, slowMs: 60_000 });
  let begun = () => {};
  const streaming = new Promise<void>((resolve) => {
    begun = resolve;
  });
  const reply = first.chat({ model: "slow", stream: true }, { onPiece: () => begun() });
  await streaming;
  await first.gateway.destroy();
  expect((await reply).end).toBe("aborted");

  const [row] = query<{ activity: string }>(data, "SELECT activity FROM history");
  const { outcome, chargeMicroUsd } = JSON.parse(row?.activity ?? "{}");
  expect([outcome, chargeMicroUsd > 0]).toEqual(["interrupted", true]);
  await using second = await startFixture({ data });
  const { balanceMicroUsd, reservedMicroUsd } = await second.admin("GET", "/accounts/acct_1");
  expect([balanceMicroUsd, reservedMicroUsd]).toEqual([1_000_000_000 - chargeMicroUsd, 0]);
});

test("charges that are still settling count as booked after a restart", async () => {
  using folder = temporaryFolder();
  const data = join(folder.path, "gateway.db");
  await using first = await startFixture({ data, settlingLagMs: 3_600_000 });
  const find = (fixture: Fixture) => fixture.admin("POST", "/keys/find", { key: fixture.ready.keys.valid });
  await first.chat();
  expect(await find(first)).toMatchObject({ spentTodayMicroUsd: 0, spentMicroUsd: 107 });
  await first.gateway.destroy();
  await using second = await startFixture({ data, settlingLagMs: 3_600_000 });
  expect(await find(second)).toMatchObject({ spentTodayMicroUsd: 107, spentMicroUsd: 107 });
});

test("limits that a later start requests apply to the main account from then on", async () => {
  using folder = temporaryFolder();
  const data = join(folder.path, "gateway.db");
  const limitsOf = async (options: object) => {
    await using fixture = await startFixture({ data, ...options });
    const [main, , other] = await fixture.admin("GET", "/accounts");
    expect(fixture.ready.limits).toEqual(main.limits);
    return [main.limits, other.limits].map(({ rpm, inFlight }) => `${rpm}:${inFlight}`);
  };
  expect(await limitsOf({ limits: { rpm: 100, inFlight: 5 } })).toEqual(["100:5", "100:5"]);
  expect(await limitsOf({})).toEqual(["100:5", "100:5"]);
  expect(await limitsOf({ tier: "growth" })).toEqual(["1000:200", "100:5"]);
  expect(await limitsOf({})).toEqual(["1000:200", "100:5"]);
  expect(await limitsOf({ limits: { rpm: 7, inFlight: 1 } })).toEqual(["7:1", "100:5"]);
});

test("keys that are named at a later start must be those of the file", async () => {
  using folder = temporaryFolder();
  const data = join(folder.path, "gateway.db");
  const start = async (keys: Record<string, string>) => {
    await using fixture = await startFixture({ data, keys });
    return fixture.ready.keys;
  };
  const { second } = await start({ valid: "gk-the-first-text" });
  expect(await start({ valid: "gk-the-first-text", second })).toMatchObject({ valid: "gk-the-first-text", second });
  const refusal = await start({ valid: "gk-another-text" }).catch((error) => error);
  expect(refusal).toMatchObject({ code: "USAGE", message: `keys: "valid" differs from the key in ${data}` });
  expect(JSON.stringify(refusal)).not.toContain("gk-");
  await expect(start({ vaild: "gk-the-first-text" })).rejects.toThrow('no ready-made key is named "vaild"');
  // A refused start leaves the file for the next one.
  expect((await start({})).second).toBe(second);
});

test("only its owner can read the file, and a gateway that has ended leaves no other files", async () => {
  using folder = temporaryFolder();
  const [made, empty] = ["made.db", "empty.db"].map((name) => join(folder.path, name)) as [string, string];
  writeFileSync(empty, "");
  chmodSync(empty, 0o644);
  const umask = process.umask(0);
  try {
    for (const data of [made, empty]) {
      await using fixture = await startFixture({ data });
      for (const path of [data, `${data}-wal`]) expect((statSync(path).mode & 0o777).toString(8)).toBe("600");
      await fixture.gateway.drain();
      expect(existsSync(`${data}-wal`)).toBe(false);
    }
  } finally {
    process.umask(umask);
  }
});

test("a second gateway in the same process is refused, and the first one keeps the file", async () => {
  using folder = temporaryFolder();
  const data = join(folder.path, "gateway.db");
  await using first = await startFixture({ data });
  for (let turn = 0; turn < 2; turn += 1)
    await expect(startFixture({ data })).rejects.toMatchObject({ code: "USAGE", message: /is in use/ });
  await first.chat();
  await first.gateway.drain();
  expect(query(data, "SELECT * FROM history")).toHaveLength(1);
});

test("a data file keeps the newest rows of the history, and all or nothing of a write", async () => {
  using folder = temporaryFolder();
  const file = await DataFile.open(join(folder.path, "gateway.db"));
  const nothing = { accounts: [], keys: [], readyKeys: [], history: [], keptRows: 3 };
  const rows = (...numbers: number[]) => numbers.map((atMs) => JSON.stringify({ atMs }));
  file.write({ ...nothing, history: rows(1, 2, 3, 4, 5) });
  file.write({ ...nothing, history: rows(6) });
  const orphan = JSON.stringify({ id: "key_1", secret: null });
  expect(() => file.write({ ...nothing, keys: [orphan], history: rows(7) })).toThrow(/NOT NULL/);
  expect(file.read().history).toEqual([{ atMs: 4 }, { atMs: 5 }, { atMs: 6 }]);
  file.close();
});
