import { describe, expect, test } from "vitest";
import { eventsOf, jsonOf, streamText } from "./support/client.ts";
import { CHAT, startFixture } from "./support/gateway-fixture.ts";

const NUMBERED = /^\d+-\S+( \d+-\S+)*$/;

describe("a non-streaming chat reply", () => {
  test("has every field that clients read", async () => {
    await using fixture = await startFixture();
    const reply = await fixture.chat({ messages: [{ role: "user", content: "two words" }] });
    expect(reply.headers["content-type"]).toBe("application/json; charset=utf-8");
    expect(jsonOf(reply)).toEqual({
      id: expect.stringMatching(/^chatcmpl-req_/),
      object: "chat.completion",
      created: expect.closeTo(Date.now() / 1_000, -1),
      model: "echo-fast",
      choices: [
        { index: 0, message: { role: "assistant", content: "two words" }, logprobs: null, finish_reason: "stop" },
      ],
      usage: { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 },
    });
  });

  test.each([
    ["max_tokens", { max_tokens: 2 }],
    ["max_completion_tokens", { max_completion_tokens: 2 }],
  ])("is bounded by %s", async (_name, limit) => {
    await using fixture = await startFixture();
    const { choices, usage } = jsonOf(
      await fixture.chat({ ...limit, messages: [{ role: "user", content: "a b c d" }] }),
    );
    expect(choices[0]).toMatchObject({ message: { content: "a b " }, finish_reason: "length" });
    expect(usage.completion_tokens).toBe(2);
  });

  test("replies to the last turn of the user", async () => {
    await using fixture = await startFixture();
    const turns = ["first", "second", "third"].map((content, at) => ({
      role: at === 1 ? "assistant" : "user",
      content,
    }));
    expect(jsonOf(await fixture.chat({ messages: turns })).choices[0].message.content).toBe("third");
  });

  test("hands everything to the model", async () => {
    await using fixture = await startFixture();
    const messages = [
      { role: "system", content: "Be kind" },
      {
        role: "user",
        content: [
          { type: "text", text: "in " },
          { type: "text", text: "parts" },
        ],
      },
      { role: "assistant", content: "yes" },
      { role: "user", content: "go" },
    ];
    const reply = await fixture.chat({ model: "transcript", messages });
    expect(jsonOf(reply).choices[0].message.content).toBe("system: Be kind\nuser: in parts\nassistant: yes\nuser: go");
  });

  test("differs for another model", async () => {
    await using fixture = await startFixture();
    const reply = jsonOf(await fixture.chat({ model: "shout-fast" }));
    expect([reply.model, reply.choices[0].message.content]).toEqual(["shout-fast", "SAY HELLO"]);
  });

  test("is the same for the same prompt and seed, and differs for another seed", async () => {
    const replies: string[] = [];
    for (const seed of [1, 1, 2]) {
      await using fixture = await startFixture({ seed });
      replies.push(jsonOf(await fixture.chat({ model: "slow" })).choices[0].message.content);
    }
    expect(replies[0]).toMatch(NUMBERED);
    expect(replies[1]).toBe(replies[0]);
    expect(replies[2]).not.toBe(replies[0]);
  });
});

describe("a streamed chat reply", () => {
  test("is role, increments, finish reason, usage, end marker", async () => {
    await using fixture = await startFixture();
    const requested = {
      stream: true,
      stream_options: { include_usage: true },
      messages: [{ role: "user", content: "a b" }],
    };
    const reply = await fixture.chat(requested);
    expect(reply.headers["content-type"]).toBe("text/event-stream; charset=utf-8");
    const events = eventsOf(reply);
    expect(events.map(({ name }) => name)).toEqual(Array.from({ length: 6 }, () => undefined));
    expect(events.at(-1)?.data).toBe("[DONE]");
    const chunks = events.slice(0, -1).map(({ data }) => JSON.parse(data));
    expect(new Set(chunks.map(({ id }) => id)).size).toBe(1);
    expect(chunks.map(({ object, model }) => `${object} ${model}`)).toEqual(
      Array.from({ length: 5 }, () => "chat.completion.chunk echo-fast"),
    );
    expect(chunks.map(({ choices, usage }) => [choices[0]?.delta, choices[0]?.finish_reason, usage])).toEqual([
      [{ role: "assistant", content: "" }, null, null],
      [{ content: "a " }, null, null],
      [{ content: "b" }, null, null],
      [{}, "stop", null],
      [undefined, undefined, { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 }],
    ]);
  });

  test("omits the usage unless it was requested", async () => {
    await using fixture = await startFixture();
    const reply = await fixture.chat({ stream: true });
    expect(reply.bytes.toString()).not.toContain("usage");
  });

  test("has the text of the non-streaming reply", async () => {
    await using fixture = await startFixture();
    const nonStreaming = jsonOf(await fixture.chat({ model: "echo-stream" })).choices[0].message.content;
    expect(streamText(await fixture.chat({ model: "echo-stream", stream: true }))).toBe(nonStreaming);
  });

  test("arrives piece by piece, at the configured pace", async () => {
    await using fixture = await startFixture({ pieces: 6, paceMs: 40 });
    const { pieces } = await fixture.chat({ model: "echo-stream", stream: true });
    const spreadMs = (pieces.at(-1)?.atMs ?? 0) - (pieces[0]?.atMs ?? 0);
    expect(pieces.length).toBeGreaterThanOrEqual(6);
    expect(spreadMs).toBeGreaterThan(200);
    expect(spreadMs).toBeLessThan(600);
  });

  test("of a long text has few enough pieces", async () => {
    await using fixture = await startFixture();
    const content = Array.from({ length: 5_000 }, (_none, at) => `word${at}`).join(" ");
    const reply = await fixture.chat({ stream: true, messages: [{ role: "user", content }] });
    expect(streamText(reply)).toBe(content);
    expect(eventsOf(reply).length).toBeLessThan(300);
  });
});

describe("tools in the chat dialect", () => {
  const tool = (name: string, properties: object) => ({
    type: "function",
    function: { name, parameters: { type: "object", properties } },
  });
  const tools = [tool("lookup", { query: { type: "string" }, limit: { type: "integer" } }), tool("clock", {})];

  test("are called with arguments that fit", async () => {
    await using fixture = await startFixture();
    const { choices } = jsonOf(await fixture.chat({ model: "tool-caller", tools }));
    expect(choices[0]).toMatchObject({ message: { role: "assistant", content: null }, finish_reason: "tool_calls" });
    const calls = choices[0].message.tool_calls;
    expect(calls.map((call: { function: { name: string } }) => call.function.name)).toEqual(["lookup", "clock"]);
    expect(JSON.parse(calls[0].function.arguments)).toEqual({ query: "Say hello", limit: 7 });
    expect(calls[0].id).not.toBe(calls[1].id);
  });

  test("are streamed in fragments that join to the same call", async () => {
    await using fixture = await startFixture();
    const reply = await fixture.chat({ model: "tool-caller", tools, stream: true });
    const joined: { id: string; name: string; json: string }[] = [];
    for (const { data } of eventsOf(reply).slice(0, -1)) {
      for (const part of JSON.parse(data).choices[0]?.delta.tool_calls ?? []) {
        joined[part.index] ??= { id: part.id, name: part.function.name, json: "" };
        const call = joined[part.index];
        if (call !== undefined) call.json += part.function.arguments;
      }
    }
    expect(joined.map(({ name, json }) => [name, JSON.parse(json)])).toEqual([
      ["lookup", { query: "Say hello", limit: 7 }],
      ["clock", {}],
    ]);
  });

  test.each([
    ["one at a time", { parallel_tool_calls: false }, 1],
    ["not at all", { tool_choice: "none" }, undefined],
  ])("are called %s if the caller requests it", async (_name, body, count) => {
    await using fixture = await startFixture();
    const { message } = jsonOf(await fixture.chat({ model: "tool-caller", tools, ...body })).choices[0];
    expect(message.tool_calls?.length).toBe(count);
  });

  test("give their result to the model", async () => {
    await using fixture = await startFixture();
    const called = { id: "call_0", type: "function", function: { name: "clock", arguments: "{}" } };
    const messages = [
      ...CHAT.messages,
      { role: "assistant", content: null, tool_calls: [called] },
      { role: "tool", tool_call_id: "call_0", content: "noon" },
    ];
    const reply = jsonOf(await fixture.chat({ model: "tool-caller", tools, messages }));
    expect(reply.choices[0].message.content).toBe("The tool says: noon");
  });
});
