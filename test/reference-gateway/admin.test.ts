import { expect, test } from "vitest";
import { sendTo } from "./support/client.ts";
import { startFixture } from "./support/gateway-fixture.ts";

test("the admin interface requires its token", async () => {
  await using fixture = await startFixture();
  const { adminUrl, keys, adminToken } = fixture.ready;
  for (const key of [undefined, keys.valid, `${adminToken}x`]) {
    expect((await sendTo(adminUrl, { path: "/accounts", key })).status).toBe(401);
  }
  expect((await fixture.send({ path: "/models", key: adminToken })).status).toBe(401);
});

test("accounts and keys are made, read and changed", async () => {
  await using fixture = await startFixture();
  const account = await fixture.admin("POST", "/accounts", {
    name: "mine",
    limits: { rpm: 5, inFlight: 2 },
    balanceMicroUsd: 10_000,
  });
  expect(account).toMatchObject({ name: "mine", limits: { rpm: 5, inFlight: 2 }, balanceMicroUsd: 10_000, keys: [] });
  const parent = await fixture.admin("POST", "/keys", {
    account: account.id,
    key: "gk-chosen-by-me-1",
    capMicroUsd: 300,
  });
  expect(parent).toMatchObject({
    key: "gk-chosen-by-me-1",
    account: account.id,
    capMicroUsd: 300,
    budgetMicroUsd: null,
  });
  const child = await fixture.admin("POST", "/keys", { parent: parent.id, budgetMicroUsd: 100 });
  expect(child).toMatchObject({ parent: parent.id, account: account.id, budgetMicroUsd: 100 });
  expect((await fixture.chat({}, { key: parent.key })).status).toBe(200);
  expect(await fixture.admin("GET", `/keys/${parent.id}`)).toMatchObject({
    spentMicroUsd: 107,
    spentTodayMicroUsd: 107,
  });
  expect(await fixture.admin("POST", "/keys/find", { key: parent.key })).toMatchObject({ id: parent.id });
  expect(await fixture.admin("GET", `/accounts/${account.id}`)).toMatchObject({
    balanceMicroUsd: 9_893,
    peakInFlight: 1,
  });
  await fixture.admin("PATCH", `/keys/${parent.id}`, { capMicroUsd: 50 });
  expect((await fixture.chat({}, { key: parent.key })).status).toBe(402);
  await fixture.admin("PATCH", `/keys/${parent.id}`, { capMicroUsd: null });
  expect((await fixture.chat({}, { key: parent.key })).status).toBe(200);
  await fixture.admin("PATCH", `/keys/${parent.id}`, { revoked: true });
  expect((await fixture.chat({}, { key: parent.key })).headers["x-service-error-code"]).toBe("key_revoked");
  expect(JSON.stringify(await fixture.admin("GET", `/keys/${parent.id}`))).not.toContain(parent.key);
});

test("limits of an account are raised and lowered while the gateway runs", async () => {
  await using fixture = await startFixture();
  const { id } = await fixture.admin("POST", "/accounts", {
    limits: { rpm: 2, inFlight: 1 },
    balanceMicroUsd: 100_000,
  });
  const { key } = await fixture.admin("POST", "/keys", { account: id });
  const send = async () => (await fixture.chat({}, { key })).status;
  expect([await send(), await send(), await send()]).toEqual([200, 200, 429]);
  expect(await fixture.admin("PATCH", `/accounts/${id}`, { tier: "starter" })).toMatchObject({
    limits: { rpm: 300, inFlight: 64 },
    rateRemaining: 298,
    balanceMicroUsd: 99_786,
  });
  const reply = await fixture.chat({}, { key });
  expect([reply.status, reply.headers["x-ratelimit-limit"]]).toEqual([200, "300"]);
  const streams = await Promise.all([1, 2].map(() => fixture.chat({ model: "echo-stream", stream: true }, { key })));
  expect(streams.map(({ status }) => status)).toEqual([200, 200]);
  await fixture.admin("PATCH", `/accounts/${id}`, { limits: { rpm: 3, inFlight: 1 } });
  expect(await send()).toBe(429);
});

test.each([
  ["POST", "/accounts", { tiers: "starter" }, 400],
  ["POST", "/accounts", { tier: "huge" }, 400],
  ["POST", "/accounts", { limits: { rpm: 0, inFlight: 1 } }, 400],
  ["POST", "/keys", { account: "acct_99" }, 404],
  ["POST", "/keys", { account: "acct_1", key: "short" }, 400],
  ["POST", "/keys", { account: "acct_1", key: "with space in it" }, 400],
  ["PATCH", "/keys/key_99", {}, 404],
  ["PATCH", "/accounts/acct_1", { balanceMicroUsd: "1" }, 400],
  ["PATCH", "/accounts/acct_1", { tier: "huge" }, 400],
  ["PATCH", "/accounts/acct_1", { limits: { rpm: 0, inFlight: 1 } }, 400],
  ["PUT", "/mutations", { enabled: ["no.such-mutation"] }, 400],
  ["PUT", "/variants", { enabled: "json.pretty" }, 400],
  ["GET", "/nothing", undefined, 404],
])("%s %s with %j is refused with %i", async (method, path, body, status) => {
  await using fixture = await startFixture();
  const { adminUrl, adminToken } = fixture.ready;
  const reply = await sendTo(adminUrl, { method, path, key: adminToken, ...(body === undefined ? {} : { body }) });
  expect(reply.status).toBe(status);
  expect(JSON.parse(reply.bytes.toString()).error).toMatch(/./);
});

test("the traffic log counts exactly and tells arrival times", async () => {
  await using fixture = await startFixture();
  const key = fixture.ready.keys.other;
  const before = await fixture.admin("GET", "/clock");
  for (let turn = 0; turn < 3; turn += 1) await fixture.chat({}, { key });
  await fixture.messages({ model: "no-such-model", stream: true }, { key });
  const after = await fixture.admin("GET", "/clock");
  const { counts, arrivals } = await fixture.admin("GET", "/traffic?account=acct_3");
  expect(counts).toEqual({
    total: 4,
    admitted: 3,
    refused: { model_not_found: 1 },
    byEndpoint: { chat: 3, messages: 1 },
  });
  expect(arrivals.map(({ status, stream }: { status: number; stream: boolean }) => [status, stream])).toEqual([
    [200, false],
    [200, false],
    [200, false],
    [404, true],
  ]);
  const times = arrivals.map(({ atUs }: { atUs: number }) => atUs);
  expect(times).toEqual(times.toSorted((one: number, other: number) => one - other));
  expect(times[0]).toBeGreaterThanOrEqual(before.monotonicUs);
  expect(times[3]).toBeLessThanOrEqual(after.monotonicUs);
  await fixture.chat({}, { key: fixture.ready.keys.valid });
  await fixture.chat({}, { key: "sk-unknown" });
  const all = await fixture.admin("GET", "/traffic");
  expect(all.counts).toMatchObject({ total: 6, admitted: 4, byEndpoint: { chat: 5, messages: 1 } });
  expect(all.arrivals.length).toBe(6);
  await fixture.admin("DELETE", "/traffic");
  expect((await fixture.admin("GET", "/traffic")).counts.total).toBe(0);
});

test("defects and variants are switched at run time", async () => {
  await using fixture = await startFixture();
  await fixture.admin("PUT", "/mutations", { enabled: ["chat.usage-missing"] });
  await fixture.admin("PUT", "/variants", { enabled: ["json.pretty"] });
  const text = (await fixture.chat()).bytes.toString();
  expect(text).not.toContain("usage");
  expect(text).toContain('\n  "choices"');
  const shown = await fixture.admin("GET", "/mutations");
  expect(shown.filter(({ enabled }: { enabled: boolean }) => enabled)).toEqual([
    expect.objectContaining({ name: "chat.usage-missing", area: "chat", breaks: ["CHAT-3"] }),
  ]);
  await fixture.admin("PUT", "/mutations", { enabled: [] });
  await fixture.admin("PUT", "/variants", { enabled: [] });
  expect((await fixture.chat()).bytes.toString()).toContain('"usage":{');
});
