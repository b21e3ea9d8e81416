import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { endpointUrl, readError, readReply, readStream, requestBody } from "../../src/dialects/index.ts";

const bytes = (text: string) => new TextEncoder().encode(text);
const sse = (...items: unknown[]) =>
  bytes(items.map((item) => `data: ${typeof item === "string" ? item : JSON.stringify(item)}\n\n`).join(""));
const chunk = (content: string | null, finish: string | null = null) => ({
  choices: [{ index: 0, delta: { content }, finish_reason: finish }],
});

describe("endpoint addresses (CHAT-8, MSG-12)", () => {
  test.each([
    ["http://h/v1", "chat", "http://h/v1/chat/completions"],
    ["http://h/v1/", "chat", "http://h/v1/chat/completions"],
    ["http://h/gw/v1", "messages", "http://h/gw/v1/messages"],
    ["http://h/v1//", "models", "http://h/v1/models"],
    ["http://h", "messages", "http://h/v1/messages"],
    ["http://h/", "messages", "http://h/v1/messages"],
    ["https://h:8443/v1", "messages", "https://h:8443/v1/messages"],
  ] as const)("%s %s → %s", (base, endpoint, expected) => {
    expect(endpointUrl(base, endpoint)).toBe(expected);
  });
});

describe("request bodies", () => {
  test("hold the documented fields and no others", () => {
    expect(requestBody("chat", { model: "m", prompt: "hi" })).toEqual({
      model: "m",
      messages: [{ role: "user", content: "hi" }],
    });
    expect(requestBody("messages", { model: "m", prompt: "hi", stream: true, system: "s", maxTokens: 5 })).toEqual({
      model: "m",
      max_tokens: 5,
      messages: [{ role: "user", content: "hi" }],
      stream: true,
      system: "s",
    });
  });

  test("a system prompt never enters the messages of the messages dialect (CLIENT-7)", () => {
    const body = JSON.stringify(requestBody("messages", { model: "m", prompt: "hi", system: "s" })["messages"]);
    expect(body).not.toContain("system");
  });
});

describe("non-streaming replies", () => {
  test("chat: text, usage with nested counts, finish reason, tool calls", () => {
    const reading = readReply("chat", {
      choices: [
        {
          message: {
            content: "hi",
            tool_calls: [{ function: { name: "f", arguments: '{"a":1}' } }, { function: { arguments: "{" } }],
          },
          finish_reason: "stop",
        },
      ],
      usage: { prompt_tokens: 1, details: { cached: 0 }, note: "x" },
    });
    expect(reading).toMatchObject({ text: "hi", parts: 1, finishReason: "stop", error: undefined });
    expect(reading.usage).toEqual({ prompt_tokens: 1, "details.cached": 0 });
    expect(reading.toolCalls).toEqual([
      { id: undefined, name: "f", input: { a: 1 }, fragments: '{"a":1}' },
      { id: undefined, name: undefined, input: undefined, fragments: "{" },
    ]);
  });

  test("messages: text is gathered from text blocks only, whatever else the content has (MSG-13)", () => {
    const reading = readReply("messages", {
      content: [
        { type: "thinking", thinking: "…" },
        { type: "text", text: "a" },
        { type: "tool_use", name: "f", input: {} },
        { text: "b" },
        null,
        7,
        { type: "new", text: "no" },
      ],
    });
    expect(reading).toMatchObject({ text: "ab", parts: 7, toolCalls: [{ name: "f", input: {} }] });
  });

  test.each([
    undefined,
    null,
    1,
    "x",
    [],
    {},
    { choices: {} },
    { choices: [null] },
    { content: "x" },
    { error: { message: "m" } },
  ])("%j is read without throwing", (json) => {
    expect(readReply("chat", json).text).toBeUndefined();
    expect(readReply("messages", json).text).toBeUndefined();
  });

  test("anything that is JSON is read without throwing", () => {
    fc.assert(fc.property(fc.jsonValue(), (json) => void [readReply("chat", json), readReply("messages", json)]));
  });
});

describe("streams (STREAM-7)", () => {
  test.each<[what: string, body: Uint8Array, expected: object]>([
    [
      "chat chunks",
      sse(chunk(""), chunk("a"), chunk("b", "stop"), { choices: [], usage: {} }, "[DONE]"),
      { framing: "event-stream", text: "ab", endMarkers: 1, finishReasons: ["stop"] },
    ],
    ["null content, as first chunks have it", sse(chunk(null), chunk("a")), { text: "a", endMarkers: 0 }],
    [
      "messages events",
      bytes(
        'event: message_start\ndata: {"type":"message_start","message":{"content":[]}}\n\nevent: content_block_delta\ndata: {"type":"content_block_delta","delta":{"type":"text_delta","text":"hi"}}\n\nevent: message_stop\ndata: {"type":"message_stop"}\n\n',
      ),
      { text: "hi", endMarkers: 1 },
    ],
    ["JSON lines", bytes('{"text":"a"}\n{"text":"b"}\n'), { framing: "json-objects", text: "ab" }],
    ["objects glued together", bytes('{"delta":"a"}{"delta":"}{"}'), { framing: "json-objects", text: "a}{" }],
    ["one long array", bytes('[{"response":"a"},\n{"response":"b"}]'), { framing: "json-objects", text: "ab" }],
    ["one document", bytes('{"choices":[{"message":{"content":"whole"}}]}'), { framing: "single-json", text: "whole" }],
    ["plain text", bytes("just words"), { framing: "text", text: undefined, strayBytes: 9 }],
    ["nothing", bytes(""), { framing: "empty", text: undefined }],
    ["an unknown shape", sse({ odd: { deep: "x" } }), { text: undefined, outputs: 0 }],
    ["an error item", sse(chunk("a"), { error: { message: "no" } }), { text: "a", errors: [{ message: "no" }] }],
    [
      "a cut event",
      bytes('data: {"choices":[{"delta":{"content":"a"}}]}\n\ndata: {"choi'),
      { text: "a", strayBytes: 12 },
    ],
    [
      "tool output is output and not text",
      sse({ choices: [{ delta: { tool_calls: [{ function: { name: "f" } }] } }] }),
      { text: undefined, outputs: 1 },
    ],
    ["data after the end marker", sse("[DONE]", chunk("late")), { firstMarkerIndex: 0, text: "late" }],
  ])("%s", (_what, body, expected) => {
    expect(readStream(body)).toMatchObject(expected);
  });

  test("any bytes are read without throwing", () => {
    fc.assert(fc.property(fc.uint8Array({ maxLength: 300 }), (body) => void readStream(body)));
    fc.assert(fc.property(fc.string(), (text) => void readStream(bytes(`data: ${text}\n\n{${text}`))));
  });
});

describe("error bodies (ERR-BODY-4, ERR-BODY-5)", () => {
  test.each([
    ['{"error":{"message":"m","type":"t","code":402}}', { envelope: "chat", message: "m", type: "t", code: 402 }],
    ['{"error":{"message":"m","type":"t","code":"x"}}', { envelope: "chat", code: "x" }],
    ['{"type":"error","error":{"type":"t","message":"m"}}', { envelope: "messages", message: "m", code: undefined }],
    ['{"error":"m"}', { envelope: "flat", message: "m" }],
    ['{"message":"m","type":"t"}', { envelope: "flat", message: "m", type: "t", code: undefined }],
    ['{"message":"m","code":null}', { envelope: "flat", message: "m", code: null }],
    ["<html>502</html>", { envelope: "none" }],
    ["", { envelope: "none" }],
    ["[[[[]]]]", { envelope: "none" }],
    ["null", { envelope: "none" }],
    ['{"error":[]}', { envelope: "none" }],
    [`${"[".repeat(50_000)}`, { envelope: "none" }],
  ])("%#", (body, expected) => {
    expect(readError(body)).toMatchObject(expected);
  });
});
