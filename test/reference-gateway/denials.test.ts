import { describe, expect, test } from "vitest";
import { jsonOf, type Reply } from "./support/client.ts";
import { type Fixture, startFixture } from "./support/gateway-fixture.ts";

interface Row {
  readonly name: string;
  readonly status: number;
  readonly action: string;
  key(fixture: Fixture): string;
  readonly body?: object;
}

const ROWS: readonly Row[] = [
  { name: "invalid_api_key", status: 401, action: "check_credentials", key: () => "gk-never-issued" },
  { name: "key_revoked", status: 401, action: "replace_key", key: ({ ready }) => ready.keys.revoked },
  { name: "insufficient_credits", status: 402, action: "add_credits", key: ({ ready }) => ready.keys.empty },
  { name: "insufficient_credits", status: 402, action: "add_credits", key: ({ ready }) => ready.keys.emptySecond },
  { name: "quota_exceeded", status: 402, action: "raise_cap", key: ({ ready }) => ready.keys.capped },
  { name: "budget_exhausted", status: 429, action: "raise_budget", key: ({ ready }) => ready.keys.childExhausted },
  {
    name: "model_not_found",
    status: 404,
    action: "list_models",
    key: ({ ready }) => ready.keys.valid,
    body: { model: "no-such-model" },
  },
];

function expectDenial(reply: Reply, { name, status, action }: Row, dialect: "chat" | "messages"): void {
  expect(reply.end).toBe("complete");
  expect(reply.status).toBe(status);
  expect(reply.headers["x-service-error-code"]).toBe(name);
  expect(reply.headers["x-service-action"]).toBe(action);
  expect(reply.headers["content-type"]).toBe("application/json; charset=utf-8");
  expect(reply.headers["retry-after"]).toBeUndefined();
  if (dialect === "chat") {
    const { error } = jsonOf(reply);
    expect(error).toMatchObject({
      message: expect.stringMatching(/./),
      type: expect.stringMatching(/./),
      code: status,
    });
  } else {
    expect(jsonOf(reply)).toMatchObject({
      type: "error",
      error: { type: expect.stringMatching(/_error$/), message: expect.stringMatching(/./) },
      request_id: reply.headers["x-request-id"],
    });
  }
}

describe.each(ROWS)("$status $name", (row) => {
  test("is the same in both dialects, streaming and non-streaming", async () => {
    await using fixture = await startFixture();
    const key = row.key(fixture);
    for (const stream of [false, true, false]) {
      expectDenial(await fixture.chat({ ...row.body, stream }, { key }), row, "chat");
      expectDenial(await fixture.messages({ ...row.body, stream }, { key }), row, "messages");
    }
  });
});

test("keys that are stopped for money can still list the models", async () => {
  await using fixture = await startFixture();
  const { capped, childExhausted, empty } = fixture.ready.keys;
  for (const key of [capped, childExhausted, empty])
    expect((await fixture.send({ path: "/models", key })).status).toBe(200);
});

test("a stopped key does not stop its siblings", async () => {
  await using fixture = await startFixture();
  const { capped, childExhausted, valid, second } = fixture.ready.keys;
  for (const key of [capped, childExhausted]) await fixture.chat({}, { key });
  for (const key of [valid, second]) expect((await fixture.chat({}, { key })).status).toBe(200);
});

test("the model list is denied in the shape of the chat dialect", async () => {
  await using fixture = await startFixture();
  const reply = await fixture.send({ path: "/models", key: fixture.ready.keys.revoked });
  expect(reply).toMatchObject({
    status: 401,
    headers: { "x-service-error-code": "key_revoked", "www-authenticate": "Bearer" },
  });
  expect(jsonOf(reply).error.code).toBe(401);
});

test("no response and no record shows a key", async () => {
  await using fixture = await startFixture();
  const { keys } = fixture.ready;
  const seen: string[] = [];
  for (const key of [...Object.values(keys), "gk-never-issued-but-secret"]) {
    for (const reply of [
      await fixture.chat({}, { key }),
      await fixture.messages({ stream: true }, { key }),
      await fixture.send({ path: `/models?api_key=${key}`, key }),
      await fixture.send({ path: "/chat/completions", key, body: `{"${key}` }),
    ]) {
      seen.push(JSON.stringify(reply.headers), reply.bytes.toString());
    }
  }
  seen.push(
    JSON.stringify(await fixture.admin("GET", "/history")),
    JSON.stringify(await fixture.admin("GET", "/traffic")),
  );
  seen.push(
    JSON.stringify(await fixture.admin("GET", "/keys")),
    JSON.stringify(await fixture.admin("GET", "/accounts")),
  );
  for (const key of [...Object.values(keys), "gk-never-issued-but-secret"]) {
    expect(seen.filter((text) => text.includes(key))).toEqual([]);
  }
});
