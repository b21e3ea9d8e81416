import { describe, expect, test } from "vitest";
import { jsonOf, keepAlive, streamText } from "./support/client.ts";
import { startFixture } from "./support/gateway-fixture.ts";

describe("compression", () => {
  test.each([
    ["gzip", "gzip"],
    ["br", "br"],
    ["gzip, br", "br"],
    ["identity", undefined],
    ["deflate", undefined],
    ["gzip;q=0", undefined],
  ])("Accept-Encoding: %s", async (accepted, coding) => {
    await using fixture = await startFixture();
    const headers = { "Accept-Encoding": accepted };
    for (const reply of [
      await fixture.chat({}, { headers }),
      await fixture.messages({}, { headers }),
      await fixture.send({ path: "/models", headers }),
      await fixture.chat({}, { headers, key: "gk-never-issued" }),
      await fixture.send({ path: "/nothing", headers }),
    ]) {
      expect(reply.headers["content-encoding"]).toBe(coding);
      expect(reply.headers["vary"]).toBe("Accept-Encoding");
      expect(reply.headers["content-length"]).toBe(String(reply.bytes.length));
      expect(typeof jsonOf(reply)).toBe("object");
    }
  });
});

test.each([
  ["letters of every length", "aé東🚀é́ 👩‍👩‍👧 ﷽"],
  ["quotes, backslashes and control characters", 'a"b\\c\nd\te\u0000f\u2028g'],
  ["half a surrogate pair", "a\ud83d b"],
  ["markup", "<script>&amp;</script>"],
  ["white space only", "  \n\t "],
  ["event-stream syntax", "data: x\n\nevent: y\r\n\r\n: z"],
])("the text of replies is intact: %s", async (_name, content) => {
  await using fixture = await startFixture();
  const messages = [{ role: "user", content }];
  const body = JSON.stringify({ model: "echo-fast", messages });
  expect(jsonOf(await fixture.send({ path: "/chat/completions", body })).choices[0].message.content).toBe(content);
  expect(jsonOf(await fixture.messages({ messages })).content[0].text).toBe(content);
  expect(streamText(await fixture.chat({ messages, stream: true }))).toBe(content);
  expect(streamText(await fixture.messages({ messages, stream: true }))).toBe(content);
});

test("every response has a unique request id", async () => {
  await using fixture = await startFixture();
  const replies = [
    await fixture.chat(),
    await fixture.chat({ stream: true }),
    await fixture.messages(),
    await fixture.send({ path: "/models" }),
    await fixture.send({ path: "/nothing" }),
    await fixture.chat({}, { key: "" }),
    await fixture.chat({ model: "fail-500" }),
  ];
  const ids = replies.map(({ headers }) => headers["x-request-id"]);
  expect(ids.every((id) => /^req_[0-9a-z]{20}$/.test(id ?? ""))).toBe(true);
  expect(new Set(ids).size).toBe(ids.length);
});

test("one connection serves everything, one request after the other", async () => {
  await using fixture = await startFixture();
  const agent = keepAlive();
  for (const requested of [
    {},
    { stream: true },
    { model: "fail-500" },
    { model: "no-such-model" },
    { messages: [] },
    {},
  ]) {
    expect((await fixture.chat(requested, { agent })).end).toBe("complete");
  }
  const { arrivals } = await fixture.admin("GET", "/traffic");
  expect(new Set(arrivals.map(({ connectionId }: { connectionId: number }) => connectionId))).toEqual(new Set([1]));
  agent.destroy();
});

test("replies to concurrent requests are never crossed", async () => {
  await using fixture = await startFixture({ limits: { rpm: 100_000, inFlight: 1_000 } });
  const texts = Array.from({ length: 200 }, (_none, at) => `nonce-${at} ${"x".repeat(at)}`);
  const replies = await Promise.all(
    texts.map(async (content, at) => {
      const body = { messages: [{ role: "user", content }], stream: at % 2 === 0 };
      const reply = await (at % 3 === 0 ? fixture.messages : fixture.chat)({ ...body, max_tokens: 100 });
      if (body.stream) return streamText(reply);
      return at % 3 === 0 ? jsonOf(reply).content[0].text : jsonOf(reply).choices[0].message.content;
    }),
  );
  expect(replies).toEqual(texts);
});

test("the list shows every model, and each can be called", async () => {
  await using fixture = await startFixture();
  const list = jsonOf(await fixture.send({ path: "/models" }));
  expect(list.object).toBe("list");
  const ids = list.data.map(({ id }: { id: string }) => id);
  expect(ids).toEqual(
    expect.arrayContaining(["echo-fast", "shout-fast", "echo-stream", "slow", "tool-caller", "fail-500"]),
  );
  for (const entry of list.data)
    expect(entry).toMatchObject({ object: "model", created: expect.any(Number), owned_by: "reference" });
  for (const model of ids) expect((await fixture.chat({ model })).status).not.toBe(404);
});
