import { describe, expect, test } from "vitest";
import { eventsOf, jsonOf, streamText } from "./support/client.ts";
import { MESSAGES, startFixture } from "./support/gateway-fixture.ts";

describe("a non-streaming reply of the messages dialect", () => {
  test("has every field that clients read", async () => {
    await using fixture = await startFixture();
    const reply = await fixture.messages({ messages: [{ role: "user", content: "two words" }] });
    expect(jsonOf(reply)).toEqual({
      id: expect.stringMatching(/^msg_req_/),
      type: "message",
      role: "assistant",
      model: "echo-fast",
      content: [{ type: "text", text: "two words" }],
      stop_reason: "end_turn",
      stop_sequence: null,
      usage: { input_tokens: 3, output_tokens: 2 },
    });
    expect(reply.headers["request-id"]).toBe(reply.headers["x-request-id"]);
  });

  test("is bounded by max_tokens", async () => {
    await using fixture = await startFixture();
    const reply = jsonOf(await fixture.messages({ max_tokens: 2, messages: [{ role: "user", content: "a b c d" }] }));
    expect(reply).toMatchObject({
      content: [{ text: "a b " }],
      stop_reason: "max_tokens",
      usage: { output_tokens: 2 },
    });
  });

  test.each([
    ["text", "Be kind"],
    ["blocks", [{ type: "text", text: "Be kind" }]],
  ])("takes the system prompt as %s", async (_form, system) => {
    await using fixture = await startFixture();
    const reply = jsonOf(await fixture.messages({ model: "transcript", system }));
    expect(reply.content[0].text).toBe("system: Be kind\nuser: Say hello");
  });

  test("counts the system prompt as input", async () => {
    await using fixture = await startFixture();
    const count = async (system?: string) => jsonOf(await fixture.messages({ system })).usage.input_tokens;
    expect((await count("one two three")) - (await count())).toBe(3);
  });

  test("is given with and without a version header", async () => {
    await using fixture = await startFixture();
    for (const headers of [{}, { "anthropic-version": "2023-06-01" }, { "anthropic-version": "2099-01-01" }]) {
      expect((await fixture.messages({}, { headers: { ...headers } })).status).toBe(200);
    }
  });

  test("calls tools by blocks", async () => {
    await using fixture = await startFixture();
    const tools = [{ name: "lookup", input_schema: { type: "object", properties: { query: { type: "string" } } } }];
    const reply = jsonOf(await fixture.messages({ model: "tool-caller", tools }));
    expect(reply).toMatchObject({
      content: [
        { type: "tool_use", id: expect.stringMatching(/^toolu_/), name: "lookup", input: { query: "Say hello" } },
      ],
      stop_reason: "tool_use",
    });
  });
});

describe("a streamed reply of the messages dialect", () => {
  test("is a message, its blocks, and a stop reason", async () => {
    await using fixture = await startFixture();
    const reply = await fixture.messages({ stream: true, messages: [{ role: "user", content: "a b" }] });
    const events = eventsOf(reply).map(({ name, data }) => [name, JSON.parse(data)] as const);
    expect(events.map(([name, data]) => [name, data.type])).toEqual(events.map(([name]) => [name, name]));
    expect(events.map(([, data]) => data)).toEqual([
      {
        type: "message_start",
        message: expect.objectContaining({
          type: "message",
          role: "assistant",
          content: [],
          stop_reason: null,
          usage: { input_tokens: 3, output_tokens: 0 },
        }),
      },
      { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
      { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "a " } },
      { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "b" } },
      { type: "content_block_stop", index: 0 },
      {
        type: "message_delta",
        delta: { stop_reason: "end_turn", stop_sequence: null },
        usage: { output_tokens: 2 },
      },
      { type: "message_stop" },
    ]);
  });

  test("has the text of the non-streaming reply", async () => {
    await using fixture = await startFixture();
    const nonStreaming = jsonOf(await fixture.messages({ model: "echo-stream" })).content[0].text;
    expect(streamText(await fixture.messages({ model: "echo-stream", stream: true }))).toBe(nonStreaming);
  });

  test("gives a tool's input in fragments", async () => {
    await using fixture = await startFixture();
    const tools = [{ name: "lookup", input_schema: { type: "object", properties: { query: { type: "string" } } } }];
    const events = eventsOf(await fixture.messages({ model: "tool-caller", tools, stream: true })).map(({ data }) =>
      JSON.parse(data),
    );
    expect(events[1]).toMatchObject({
      type: "content_block_start",
      content_block: { type: "tool_use", name: "lookup", input: {} },
    });
    const json = events.map(({ delta }) => delta?.partial_json ?? "").join("");
    expect(JSON.parse(json)).toEqual({ query: "Say hello" });
  });

  test("opens and closes a block even when there is nothing to say", async () => {
    await using fixture = await startFixture();
    const reply = await fixture.messages({ stream: true, messages: [{ role: "user", content: "" }] });
    expect(eventsOf(reply).map(({ name }) => name)).toEqual([
      "message_start",
      "content_block_start",
      "content_block_stop",
      "message_delta",
      "message_stop",
    ]);
  });
});

describe("a request of the messages dialect is refused", () => {
  test.each([
    ["without max_tokens", { max_tokens: undefined }],
    ["with max_tokens as text", { max_tokens: "16" }],
    ["with a fraction of a token", { max_tokens: 1.5 }],
    ["with no token at all", { max_tokens: 0 }],
    ["with a negative limit", { max_tokens: -1 }],
    ["with a system turn", { messages: [{ role: "system", content: "Be kind" }, ...MESSAGES.messages] }],
    ["without a model", { model: undefined }],
    ["without messages", { messages: undefined }],
    ["with a system prompt that is not text", { system: 7 }],
  ])("%s", async (_name, body) => {
    await using fixture = await startFixture();
    for (const stream of [false, true]) {
      const reply = await fixture.messages({ ...body, stream });
      expect(reply.status).toBe(400);
      expect(jsonOf(reply)).toEqual({
        type: "error",
        error: { type: "invalid_request_error", message: expect.stringMatching(/./) },
        request_id: reply.headers["x-request-id"],
      });
    }
  });
});
