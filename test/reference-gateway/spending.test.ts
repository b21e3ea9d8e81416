import { describe, expect, test } from "vitest";
import type { Reply } from "./support/client.ts";
import { type Fixture, startFixture } from "./support/gateway-fixture.ts";
import { TestClock } from "./support/test-clock.ts";

const row = ({ status, headers }: Reply) => `${status} ${headers["x-service-error-code"] ?? ""}`.trim();

/** What the main account has paid since the last call. */
async function meter(fixture: Fixture): Promise<() => Promise<number>> {
  const read = async () => (await fixture.admin("GET", "/accounts/acct_1")).balanceMicroUsd;
  let before = await read();
  return async () => {
    const now = await read();
    const paid = before - now;
    before = now;
    return paid;
  };
}

async function newKey(fixture: Fixture, terms: object): Promise<{ key: string; id: string }> {
  return await fixture.admin("POST", "/keys", { account: "acct_1", ...terms });
}

describe("a request is charged", () => {
  test("by its tokens and its model, the same in both dialects and modes", async () => {
    await using fixture = await startFixture();
    const paid = await meter(fixture);
    for (const send of [fixture.chat, fixture.messages]) {
      for (const stream of [false, true]) {
        await send({ stream });
        expect(await paid()).toBe(100 + 3 * 1 + 2 * 2);
        await send({ stream, model: "shout-fast" });
        expect(await paid()).toBe(100 + 3 * 2 + 2 * 4);
      }
    }
  });

  test.each([
    ["a provider's failure", { model: "fail-503" }],
    ["a provider's silence", { model: "fail-timeout" }],
    ["a broken reply", { model: "drop-midstream" }],
    ["a broken stream", { model: "drop-midstream", stream: true }],
    ["an unknown model", { model: "no-such-model" }],
    ["a bad body", { messages: [] }],
  ])("but not for %s", async (_name, body) => {
    await using fixture = await startFixture();
    const paid = await meter(fixture);
    await fixture.chat(body);
    await fixture.messages(body);
    expect(await paid()).toBe(0);
    expect((await fixture.admin("GET", "/accounts/acct_1")).reservedMicroUsd).toBe(0);
  });

  test("but not for listing, nor when it is denied", async () => {
    await using fixture = await startFixture();
    const paid = await meter(fixture);
    await fixture.send({ path: "/models" });
    const { revoked, capped, childExhausted } = fixture.ready.keys;
    for (const key of [revoked, capped, childExhausted]) await fixture.chat({}, { key });
    expect(await paid()).toBe(0);
  });

  test("for what was delivered when the client leaves", async () => {
    await using fixture = await startFixture({ pieces: 1_000, paceMs: 5 });
    const paid = await meter(fixture);
    const left = new AbortController();
    let events = 0;
    const requested = { signal: left.signal, onPiece: () => (++events === 6 ? left.abort() : undefined) };
    await fixture.chat({ model: "echo-stream", stream: true }, requested);
    let rows = await fixture.admin("GET", "/history");
    while (rows.length === 0) rows = await fixture.admin("GET", "/history");
    expect(rows[0]).toMatchObject({ outcome: "interrupted", status: 200, stream: true });
    expect(rows[0].outputTokens).toBeGreaterThan(0);
    expect(rows[0].outputTokens).toBeLessThan(100);
    expect(await paid()).toBe(rows[0].chargeMicroUsd);
    expect(rows[0].chargeMicroUsd).toBe(100 + 3 + 2 * rows[0].outputTokens);
  });
});

describe.each([
  ["a daily cap", "capMicroUsd", "402 quota_exceeded"],
  ["a budget", "budgetMicroUsd", "429 budget_exhausted"],
])("%s", (_name, field, denial) => {
  test.each([
    ["non-streaming chat", "chat", false],
    ["chat streams", "chat", true],
    ["non-streaming messages", "messages", false],
    ["messages streams", "messages", true],
  ] as const)("is reached by %s alone", async (_kind, dialect, stream) => {
    await using fixture = await startFixture();
    const { key } = await newKey(fixture, { [field]: 500 });
    const rows: string[] = [];
    for (let turn = 0; turn < 7; turn += 1) rows.push(row(await fixture[dialect]({ stream }, { key })));
    expect(rows).toEqual([...Array.from({ length: 5 }, () => "200"), denial, denial]);
    expect((await fixture.chat()).status).toBe(200);
  });

  test("is not overrun by a burst", async () => {
    await using fixture = await startFixture();
    const { key } = await newKey(fixture, { [field]: 500 });
    const replies = await Promise.all(Array.from({ length: 40 }, () => fixture.chat({ model: "slow" }, { key })));
    // A reply of twenty words costs 143: the fourth exceeds the remaining amount, and none is served after it.
    expect(replies.filter(({ status }) => status === 200).length).toBe(4);
    expect(new Set(replies.map(row))).toEqual(new Set(["200", denial]));
  });

  test("is not used up by requests that fail", async () => {
    await using fixture = await startFixture();
    const { key } = await newKey(fixture, { [field]: 150 });
    for (const model of ["fail-500", "drop-midstream", "no-such-model"]) {
      for (let turn = 0; turn < 4; turn += 1) await fixture.chat({ model, stream: turn % 2 === 0 }, { key });
    }
    expect((await fixture.chat({}, { key })).status).toBe(200);
  });
});

describe("at 00:00 UTC", () => {
  test("caps start afresh and budgets do not", async () => {
    const clock = new TestClock("2026-03-01T23:59:00Z");
    await using fixture = await startFixture({ clock });
    const { capped, childExhausted } = fixture.ready.keys;
    const rows = async () => [
      row(await fixture.chat({}, { key: capped })),
      row(await fixture.chat({}, { key: childExhausted })),
    ];
    const denied = ["402 quota_exceeded", "429 budget_exhausted"];
    expect(await rows()).toEqual(denied);
    clock.pass(59_000);
    expect(await rows()).toEqual(denied);
    clock.pass(1_000);
    expect(await rows()).toEqual(["200", "429 budget_exhausted"]);
  });

  test("and at no other midnight", async () => {
    const clock = new TestClock("2026-03-01T00:00:30Z");
    await using fixture = await startFixture({ clock });
    for (let hour = 0; hour < 23; hour += 1) {
      expect((await fixture.chat({}, { key: fixture.ready.keys.capped })).status).toBe(402);
      clock.pass(3_600_000);
    }
  });

  test("with the admin's clock, forward and backward", async () => {
    await using fixture = await startFixture();
    const capped = async () => (await fixture.chat({}, { key: fixture.ready.keys.capped })).status;
    await fixture.admin("POST", "/clock", { shiftWallMs: 86_400_000 });
    expect(await capped()).toBe(200);
    await fixture.admin("POST", "/clock", { shiftWallMs: -86_400_000 });
    expect(await capped()).toBe(402);
  });
});

test("a settling lag allows a cap to be exceeded for that long, and no longer", async () => {
  const clock = new TestClock();
  await using fixture = await startFixture({ clock, settlingLagMs: 30_000 });
  const { key } = await newKey(fixture, { capMicroUsd: 200 });
  for (let turn = 0; turn < 6; turn += 1) {
    expect((await fixture.chat({}, { key })).status).toBe(200);
    clock.pass(4_000);
  }
  clock.pass(30_000);
  expect(row(await fixture.chat({}, { key }))).toBe("402 quota_exceeded");
});

test("an exhausted balance stops every key of its account, until it is filled up", async () => {
  await using fixture = await startFixture();
  const account = await fixture.admin("POST", "/accounts", { tier: "starter", balanceMicroUsd: 150 });
  const keys = [await newKey(fixture, { account: account.id }), await newKey(fixture, { account: account.id })];
  const rows = async () => [
    row(await fixture.chat({}, { key: keys[0]?.key })),
    row(await fixture.messages({}, { key: keys[1]?.key })),
  ];
  expect(await rows()).toEqual(["200", "200"]);
  expect(await rows()).toEqual(["402 insufficient_credits", "402 insufficient_credits"]);
  await fixture.admin("PATCH", `/accounts/${account.id}`, { balanceMicroUsd: 1_000 });
  expect(await rows()).toEqual(["200", "200"]);
});

test("the small cap and the small budget last for some forty minimal requests", async () => {
  await using fixture = await startFixture();
  const { keys, spending } = fixture.ready;
  for (const key of [keys.cappable, keys.childSmall]) {
    let served = 0;
    while ((await fixture.chat({ max_tokens: 8 }, { key })).status === 200) served += 1;
    expect(served).toBeGreaterThanOrEqual(spending.minimalRequests);
    expect(served).toBeLessThan(spending.minimalRequests * 1.2);
  }
});
