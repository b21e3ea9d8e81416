import { describe, expect, test } from "vitest";
import { decodeEventStream, EventStreamDecoder, readReply, readStream, requestBody } from "../../src/dialects/index.ts";

const bytes = (text: string) => new TextEncoder().encode(text);

describe("a stream to the byte", () => {
  test("events, pieces and comments with their places", () => {
    const text = ': hello\n\nevent: x\ndata: {"text":"é"}\n\ndata: {"text":""}\n\ndata: [DONE]\n\ndata: [DONE]\n\n';
    const end = (after: string) => bytes(text.slice(0, text.indexOf(after) + after.length)).length;
    expect(readStream(bytes(text))).toEqual({
      framing: "event-stream",
      events: [
        { name: "x", raw: '{"text":"é"}', json: { text: "é" }, start: 9, end: end('é"}\n\n') },
        { name: undefined, raw: '{"text":""}', json: { text: "" }, start: end('é"}\n\n'), end: end('""}\n\n') },
        { name: undefined, raw: "[DONE]", json: undefined, start: end('""}\n\n'), end: end("[DONE]\n\n") },
        { name: undefined, raw: "[DONE]", json: undefined, start: end("[DONE]\n\n"), end: bytes(text).length },
      ],
      comments: 1,
      strayBytes: 0,
      pieces: [{ text: "é", end: end('é"}\n\n') }],
      text: "é",
      outputs: 1,
      errors: [],
      endMarkers: 2,
      firstMarkerIndex: 2,
      finishReasons: [],
    });
  });

  test("objects without framing with their places", () => {
    expect(readStream(bytes('{"text":"a"}\n{"text":"b"}!'))).toEqual({
      framing: "json-objects",
      events: [
        { name: undefined, raw: '{"text":"a"}', json: { text: "a" }, start: 0, end: 12 },
        { name: undefined, raw: '{"text":"b"}', json: { text: "b" }, start: 13, end: 25 },
      ],
      comments: 0,
      strayBytes: 1,
      pieces: [
        { text: "a", end: 12 },
        { text: "b", end: 25 },
      ],
      text: "ab",
      outputs: 2,
      errors: [],
      endMarkers: 0,
      firstMarkerIndex: -1,
      finishReasons: [],
    });
  });

  test.each<[body: string, framing: string]>([
    [" \n\t ", "empty"],
    [" x ", "text"],
    ["\uFEFFdata: a\n\n", "event-stream"],
    ["\n\ndata: a\n\n", "event-stream"],
    ["\r\n\r\nid: 1\n\n", "event-stream"],
    ["odd: 1\ndata: a\n\n", "event-stream"],
    ["id: 1\n\n", "event-stream"],
    ["retry: 1\n\n", "event-stream"],
    [":\n\n", "event-stream"],
    ["event\ndata\n\n", "event-stream"],
    ["odd\rdata: a\r\r", "event-stream"],
    ["odd: 1\nid: 1\n: no event\n\n", "text"],
    ["database: 1\n\n", "text"],
    ['{"a":1}', "single-json"],
  ])("%j is %s", (body, framing) => {
    expect(readStream(bytes(body)).framing).toBe(framing);
  });

  test.each<[what: string, body: string, errors: readonly unknown[]]>([
    ["an error object", 'data: {"error":{"a":1}}\n\n', [{ a: 1 }]],
    ["an error of null is ignored", 'data: {"error":null,"text":"a"}\n\n', []],
    ["a typed error", 'data: {"type":"error","message":"m"}\n\n', [{ type: "error", message: "m" }]],
    ["an event by that name", 'event: error\ndata: {"m":1}\n\n', [{ m: 1 }]],
    ["an event by that name without JSON", "event: error\ndata: oh\n\n", ["error"]],
    ["nothing of the kind", 'event: note\ndata: {"type":"errors"}\n\n', []],
  ])("%s", (_what, body, errors) => {
    expect(readStream(bytes(body)).errors).toEqual(errors);
  });

  test("why a reply ended, in either dialect", () => {
    const reasons = (...items: object[]) =>
      readStream(bytes(items.map((item) => `data: ${JSON.stringify(item)}\n\n`).join(""))).finishReasons;
    expect(reasons({ choices: [{ finish_reason: null }, { finish_reason: "stop" }] })).toEqual(["stop"]);
    expect(reasons({ type: "message_delta", delta: { stop_reason: "end_turn" } })).toEqual(["end_turn"]);
    expect(reasons({ choices: [{ finish_reason: "" }] }, { choices: "x" }, { delta: {} })).toEqual([]);
  });

  test("end markers of both dialects, also with blanks", () => {
    const markers = (body: string) => {
      const { endMarkers, firstMarkerIndex } = readStream(bytes(body));
      return [endMarkers, firstMarkerIndex];
    };
    expect(markers("data:  [DONE] \n\n")).toEqual([1, 0]);
    expect(markers('data: {"a":1}\n\ndata: {"type":"message_stop"}\n\n')).toEqual([1, 1]);
    expect(markers('data: {"a":"[DONE]"}\n\n')).toEqual([0, -1]);
  });

  test("fifty thousand events are kept, the rest is stray", () => {
    const { events, strayBytes } = readStream(bytes("data: a\n\n".repeat(50_002)));
    expect([events.length, strayBytes]).toEqual([50_000, 18]);
  });
});

describe("the event-stream decoder", () => {
  test("comments lose one blank, and keep their places", () => {
    expect(decodeEventStream(bytes(":  a b\n:c\n"))).toEqual([
      { kind: "comment", text: " a b", start: 0, end: 7 },
      { kind: "comment", text: "c", start: 7, end: 10 },
    ]);
  });

  test("values lose one blank at their beginning only", () => {
    expect(decodeEventStream(bytes("data:a b\n\n"))).toEqual([
      { kind: "event", name: undefined, data: "a b", start: 0, end: 10 },
    ]);
  });

  test("an event without a data field or a name is ignored; the next one has its own offset", () => {
    expect(decodeEventStream(bytes("id: 1\n\ndata: a\n\n"))).toEqual([
      { kind: "event", name: undefined, data: "a", start: 7, end: 16 },
    ]);
  });

  test("a byte order mark is only skipped at the very beginning", () => {
    const data = (text: string) =>
      decodeEventStream(bytes(text)).flatMap((item) => (item.kind === "event" ? [item.data] : []));
    expect(data("\uFEFFdata: a\n\ndata: \uFEFFb\n\n")).toEqual(["a", "\uFEFFb"]);
    expect(data("data: a\n\n\uFEFFdata: b\n\n")).toEqual(["a"]);
  });

  test("unterminated data is not lost", () => {
    expect(decodeEventStream(bytes("event: e\ndata: a\ndata: b"))).toEqual([
      { kind: "unterminated", name: "e", data: "a\nb", start: 0, end: 24 },
    ]);
    expect(decodeEventStream(bytes("data: a\n\n"))).toHaveLength(1);
    const decoder = new EventStreamDecoder();
    decoder.feed(bytes("data: a"));
    expect([decoder.end().length, decoder.end().length]).toEqual([1, 0]);
  });

  test("a line of exactly the bound is kept, a longer one is reported with its size", () => {
    const line = "data: 45678";
    const kinds = (body: string) =>
      decodeEventStream(bytes(body), { maxLineBytes: line.length }).map((item) =>
        item.kind === "oversized" ? [item.kind, item.bytes, item.start, item.end] : item.kind,
      );
    expect(kinds(`${line}\n\n`)).toEqual(["event"]);
    expect(kinds(`${line}9\n\n`)).toEqual([["oversized", 12, 0, 13]]);
    expect(kinds(`${line}9`)).toEqual([["oversized", 12, 0, 12]]);
    const decoder = new EventStreamDecoder({ maxLineBytes: 8 });
    expect(decoder.feed(bytes("data: "))).toEqual([]);
    expect(decoder.feed(bytes("aaa"))).toEqual([]);
    expect(decoder.feed(bytes("bbb\n"))).toEqual([{ kind: "oversized", bytes: 12, start: 0, end: 13 }]);
    expect(decoder.feed(bytes("data: c\n\n"))).toEqual([
      { kind: "event", name: undefined, data: "c", start: 13, end: 22 },
    ]);
  });

  test("the caller may use its buffer again before a line has ended", () => {
    const decoder = new EventStreamDecoder();
    const buffer = bytes("data: a");
    decoder.feed(buffer);
    buffer.fill(120);
    expect(decoder.feed(bytes("\n\n"))).toEqual([{ kind: "event", name: undefined, data: "a", start: 0, end: 9 }]);
  });

  test("a comment loses no blank inside", () => {
    expect(decodeEventStream(bytes(":a b\n"))).toEqual([{ kind: "comment", text: "a b", start: 0, end: 5 }]);
  });

  test("a carriage return at the end of one piece and a line feed at the beginning of the next are one line end", () => {
    const decoder = new EventStreamDecoder();
    expect(decoder.feed(bytes("data: a\r"))).toEqual([]);
    expect(decoder.feed(bytes("\ndata: b\r"))).toEqual([]);
    expect(decoder.feed(bytes("\n\r"))).toEqual([{ kind: "event", name: undefined, data: "a\nb", start: 0, end: 19 }]);
    expect(decoder.feed(bytes("\n: c\r\n"))).toEqual([{ kind: "comment", text: "c", start: 20, end: 24 }]);
  });
});

describe("non-streaming replies to the field", () => {
  test("chat", () => {
    expect(
      readReply("chat", { choices: [{ message: { content: null } }], usage: { a: 1, b: { c: 2, d: "x" } } }),
    ).toEqual({
      textPointer: "/choices/0/message/content",
      text: null,
      parts: 1,
      usage: { a: 1, "b.c": 2 },
      error: undefined,
      finishReason: undefined,
      toolCalls: [],
    });
    expect(readReply("chat", { choices: [{ message: { content: 7 } }] }).text).toBeUndefined();
    expect(
      readReply("chat", { choices: [{ message: { tool_calls: [{ function: { name: "f", arguments: { a: 1 } } }] } }] })
        .toolCalls,
    ).toEqual([{ id: undefined, name: "f", input: undefined, fragments: "" }]);
  });

  test("messages", () => {
    const reply = {
      content: [
        { type: "text", text: "a" },
        { type: "text", text: 7 },
        { type: "tool_use", name: "f", input: { x: 1 } },
      ],
      stop_reason: "end_turn",
      usage: { input_tokens: 1 },
    };
    expect(readReply("messages", reply)).toEqual({
      textPointer: "/content/*/text",
      text: "a",
      parts: 3,
      usage: { input_tokens: 1 },
      error: undefined,
      finishReason: "end_turn",
      toolCalls: [{ id: undefined, name: "f", input: { x: 1 }, fragments: '{"x":1}' }],
    });
    expect(readReply("messages", {})).toMatchObject({ parts: undefined, toolCalls: [], usage: undefined });
    expect(readReply("messages", { content: [{ text: "a" }, { text: 7 }] }).text).toBe("a");
  });

  test.each(["chat", "messages"] as const)("an error instead of a reply, %s", (dialect) => {
    const error = (json: unknown) => readReply(dialect, json).error;
    expect(error({ error: { message: "m" } })).toEqual({ message: "m" });
    expect(error({ error: "m" })).toBe("m");
    expect(error({ error: null })).toBeUndefined();
    expect(error({ type: "error", message: "m" })).toEqual({ type: "error", message: "m" });
    expect(error({ type: "message" })).toBeUndefined();
  });

  test("requests hold what was given", () => {
    const turns = [{ role: "user", content: "a" }];
    expect(requestBody("chat", { model: "m", prompt: turns, maxTokens: 3 })).toEqual({
      model: "m",
      messages: turns,
      max_tokens: 3,
    });
    expect(Object.keys(requestBody("chat", { model: "m", prompt: "a" }))).toEqual(["model", "messages"]);
    expect(Object.keys(requestBody("messages", { model: "m", prompt: turns }))).toEqual([
      "model",
      "max_tokens",
      "messages",
    ]);
    expect(requestBody("messages", { model: "m", prompt: turns })["messages"]).toEqual(turns);
  });
});
