import { describe, expect, test } from "vitest";
import { checkReply, checkStream } from "../../../src/dialects/index.ts";
import { EventScanner } from "../../../src/http/load-client/body/event-scanner.ts";

const chat = (message: object, rest: object = { finish_reason: "stop" }) =>
  JSON.stringify({ choices: [{ index: 0, message: { role: "assistant", ...message }, ...rest }] });
const messages = (content: unknown, stopReason: string | null = "end_turn") =>
  JSON.stringify({ type: "message", role: "assistant", content, stop_reason: stopReason });

describe("a non-streaming reply", () => {
  test.each<[what: string, dialect: "chat" | "messages", body: string, defect: string | undefined]>([
    ["text", "chat", chat({ content: "a" }), undefined],
    ["text in parts", "chat", chat({ content: [{ type: "text", text: "a" }] }), undefined],
    ["text in white space", "chat", `\n ${chat({ content: "a" })} \n`, undefined],
    [
      "tool calls with null content",
      "chat",
      chat({ content: null, tool_calls: [{ id: "c", function: { name: "f", arguments: "{}" } }] }),
      undefined,
    ],
    ["a refusal", "chat", chat({ content: null, refusal: "I cannot help with that." }), undefined],
    ["a content filter", "chat", chat({ content: "" }, { finish_reason: "content_filter" }), undefined],
    ["a text cut at max_tokens before it began", "chat", chat({ content: "" }, { finish_reason: "length" }), undefined],
    ["reasoning without text", "chat", chat({ content: "", reasoning_content: "hm" }), undefined],
    [
      "hidden reasoning",
      "chat",
      JSON.stringify({
        choices: [{ message: { content: "" }, finish_reason: "stop" }],
        usage: { completion_tokens_details: { reasoning_tokens: 9 } },
      }),
      undefined,
    ],
    [
      "several choices",
      "chat",
      JSON.stringify({ choices: [{ message: { content: "" } }, { message: { content: "b" } }] }),
      undefined,
    ],
    [
      "text next to a null error",
      "chat",
      JSON.stringify({ error: null, choices: [{ message: { content: "a" } }] }),
      undefined,
    ],
    ["an empty text with a natural stop", "chat", chat({ content: "" }), "empty text"],
    ["white space with a natural stop", "chat", chat({ content: " \n" }), "empty text"],
    ["white space cut at max_tokens", "chat", chat({ content: "\n" }, { finish_reason: "length" }), undefined],
    [
      "a text with an error as the finish reason",
      "chat",
      chat({ content: "a" }, { finish_reason: "error" }),
      "an error with a 2xx status",
    ],
    ["a block of white space", "messages", messages([{ type: "text", text: "\n" }]), "empty text"],
    ["null with a natural stop", "chat", chat({ content: null }), "empty text"],
    ["no finish reason and no text", "chat", chat({ content: "" }, {}), "empty text"],
    ["no message", "chat", JSON.stringify({ choices: [{ index: 0 }] }), "JSON without a reply"],
    ["no choice", "chat", JSON.stringify({ choices: [], usage: {} }), "JSON without a reply"],
    ["no choices", "chat", JSON.stringify({ status: "queued" }), "JSON without a reply"],
    ["a list", "chat", "[]", "JSON without a reply"],
    ["a reply of the other dialect", "chat", messages([{ type: "text", text: "a" }]), "JSON without a reply"],
    ["nothing", "chat", "", "empty body"],
    ["blank lines", "messages", "\r\n\r\n", "empty body"],
    ["a page", "chat", "<!DOCTYPE html><html></html>", "HTML page"],
    ["a word", "chat", "OK", "not JSON"],
    ["truncated JSON", "chat", chat({ content: "a" }).slice(0, -3), "not JSON"],
    ["an event stream", "chat", 'data: {"choices":[]}\n\n', "an event stream instead of one JSON document"],
    ["an error", "chat", '{"error":{"message":"no"}}', "an error with a 2xx status"],
    ["an error of a framework", "messages", '{"detail":"Provider returned 503"}', "an error with a 2xx status"],
    ["errors", "chat", '{"errors":[{"title":"no"}]}', "an error with a 2xx status"],
    ["an error by its code", "chat", '{"code":50301,"msg":"no"}', "an error with a 2xx status"],
    ["an error by its object", "chat", '{"object":"error","message":"no"}', "an error with a 2xx status"],
    [
      "an error as the finish reason",
      "chat",
      chat({ content: "" }, { finish_reason: "error" }),
      "an error with a 2xx status",
    ],
    ["blocks", "messages", messages([{ type: "text", text: "a" }]), undefined],
    ["a tool use", "messages", messages([{ type: "tool_use", id: "t", name: "f", input: {} }], "tool_use"), undefined],
    ["thinking alone", "messages", messages([{ type: "thinking", thinking: "hm", signature: "s" }]), undefined],
    ["redacted thinking alone", "messages", messages([{ type: "redacted_thinking", data: "x" }]), undefined],
    ["no block and a refusal", "messages", messages([], "refusal"), undefined],
    ["no block and max_tokens", "messages", messages([], "max_tokens"), undefined],
    ["no block and a natural stop", "messages", messages([]), "empty text"],
    ["an empty block", "messages", messages([{ type: "text", text: "" }]), "empty text"],
    ["no block and no stop", "messages", messages([], null), "JSON without a reply"],
    ["content as a string", "messages", messages("a"), "JSON without a reply"],
    [
      "an error of the dialect",
      "messages",
      '{"type":"error","error":{"type":"api_error","message":"no"}}',
      "an error with a 2xx status",
    ],
  ])("%s (%s)", (_what, dialect, body, defect) => {
    expect(checkReply(dialect, body).defect).toBe(defect);
  });

  test("states its output tokens", () => {
    const usage = (counts: object) => JSON.stringify({ choices: [{ message: { content: "a" } }], usage: counts });
    expect(checkReply("chat", usage({ completion_tokens: 7 })).outputTokens).toBe(7);
    expect(checkReply("messages", usage({ output_tokens: 8 })).outputTokens).toBe(8);
    expect(checkReply("chat", usage({ completion_tokens: "7" })).outputTokens).toBeUndefined();
  });

  test("deep nesting is tolerated", () => {
    const deep = `${"[".repeat(100_000)}${"]".repeat(100_000)}`;
    expect(checkReply("chat", `{"choices":[{"message":{"content":"","x":${deep}}}]}`).defect).toBeUndefined();
  });
});

const event = (data: unknown) => `data: ${typeof data === "string" ? data : JSON.stringify(data)}\n\n`;
const delta = (fields: object, finish: string | null = null) => ({
  choices: [{ index: 0, delta: fields, finish_reason: finish }],
});
const TEXT = event(delta({ content: "a" }));
const STOP = event(delta({}, "stop"));
const DONE = event("[DONE]");
const USAGE = event({ choices: [], usage: { completion_tokens: 1 } });
const MESSAGE = [
  { type: "message_start", message: { content: [], usage: { output_tokens: 1 } } },
  { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
  { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "a" } },
  { type: "content_block_stop", index: 0 },
  { type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { output_tokens: 1 } },
  { type: "message_stop" },
];
const framed = (events: readonly { type: string }[]) =>
  events.map((one) => `event: ${one.type}\n${event(one)}`).join("");

describe("a stream", () => {
  test.each<
    [
      what: string,
      dialect: "chat" | "messages",
      body: string,
      defect: string | undefined,
      more?: { usage?: true; error?: true },
    ]
  >([
    ["text, finish and marker", "chat", TEXT + STOP + DONE, undefined],
    ["a marker without a finish reason", "chat", TEXT + DONE, undefined],
    ["a finish reason without a marker", "chat", TEXT + STOP, undefined],
    ["a finish reason in the last piece of text", "chat", event(delta({ content: "a" }, "stop")), undefined],
    ["a marker without its blank line", "chat", `${TEXT}data: [DONE]`, undefined],
    [
      "Azure's first chunk",
      "chat",
      event({ choices: [], id: "", model: "", prompt_filter_results: [{}] }) + TEXT + STOP + DONE,
      undefined,
    ],
    ["usage that was not requested", "chat", TEXT + STOP + USAGE + DONE, undefined],
    ["usage that was requested", "chat", TEXT + STOP + USAGE + DONE, undefined, { usage: true }],
    ["no usage that was requested", "chat", TEXT + STOP + DONE, "no usage although it was requested", { usage: true }],
    [
      "a tool call",
      "chat",
      event(delta({ tool_calls: [{ index: 0, function: { name: "f", arguments: "{}" } }] })) +
        event(delta({}, "tool_calls")) +
        DONE,
      undefined,
    ],
    ["a refusal", "chat", event(delta({ refusal: "no" })) + STOP + DONE, undefined],
    ["a content filter", "chat", event(delta({}, "content_filter")) + DONE, undefined],
    ["a limit that was reached before any text", "chat", event(delta({ content: "" }, "length")) + DONE, undefined],
    ["reasoning alone", "chat", event(delta({ reasoning_details: [{ text: "hm" }] })) + STOP + DONE, undefined],
    ["comments and pings", "chat", `: PROCESSING\n\n${event("ping")}${TEXT}${STOP}${DONE}`, undefined],
    ["an empty data line", "messages", `event: ping\ndata: \n\n${framed(MESSAGE)}`, undefined],
    ["carriage returns", "chat", (TEXT + STOP + DONE).replaceAll("\n", "\r\n"), undefined],
    [
      "an event with two data lines, and carriage returns",
      "chat",
      (TEXT.replace('"choices":', '"choices":\ndata: ') + STOP + DONE).replaceAll("\n", "\r\n"),
      undefined,
    ],
    [
      "JSON lines",
      "chat",
      [delta({ content: "a" }), delta({}, "stop")].map((one) => `${JSON.stringify(one)}\n`).join(""),
      undefined,
    ],
    [
      "a JSON array of chunks",
      "chat",
      `[${JSON.stringify(delta({ content: "a" }))},\n${JSON.stringify(delta({}, "stop"))}]`,
      undefined,
    ],
    [
      "concatenated JSON documents",
      "chat",
      [delta({ content: "a}" }), delta({}, "stop")].map((one) => JSON.stringify(one)).join(""),
      undefined,
    ],
    [
      "JSON lines with a marker",
      "chat",
      `${JSON.stringify(delta({ content: "a" }))}\n${JSON.stringify(delta({ content: "b" }))}\n[DONE]\n`,
      undefined,
    ],
    [
      "JSON lines with a line of text",
      "chat",
      `${JSON.stringify(delta({ content: "a" }))}\n${JSON.stringify(delta({}, "stop"))}\nupstream error\n`,
      undefined,
      { error: true },
    ],
    [
      "a message as one JSON document: the dialect need not stream",
      "messages",
      messages([{ type: "text", text: "a" }]),
      undefined,
    ],
    ["an empty message as one JSON document", "messages", messages([]), "empty text"],
    ["chunks of an unknown shape", "chat", event({ response: "a" }) + event({ response: "b" }), undefined],
    ["events of the messages dialect", "messages", framed(MESSAGE), undefined],
    ["no message_stop", "messages", framed(MESSAGE.slice(0, -1)), undefined],
    ["an empty text", "chat", event(delta({ role: "assistant", content: "" })) + STOP + DONE, "empty text"],
    [
      "an empty message",
      "messages",
      framed(MESSAGE.filter(({ type }) => type !== "content_block_delta")),
      "empty text",
    ],
    ["white space alone", "chat", event(delta({ content: " " })).repeat(3) + STOP + DONE, "empty text"],
    ["white space, cut at max_tokens", "chat", event(delta({ content: "\n" }, "length")) + DONE, undefined],
    ["white space before the text", "chat", event(delta({ content: "\n" })) + TEXT + STOP + DONE, undefined],
    ["one token and a clean end", "chat", TEXT, "a stream without a final event"],
    ["a message without its end", "messages", framed(MESSAGE.slice(0, 3)), "a stream without a final event"],
    [
      "an end in the middle of an event",
      "chat",
      `${TEXT}data: {"choices":[{"delta":{"cont`,
      "a stream without a final event",
    ],
    ["only a role", "chat", event(delta({ role: "assistant", content: "" })), "a stream without output"],
    ["only a marker", "chat", DONE, "a stream without output"],
    ["only comments", "chat", ": ping\n\n: ping\n\n", "a stream without output"],
    ["nothing", "chat", "", "empty body"],
    ["a page", "chat", "<html>\n\n<body>Welcome\n\n</body></html>", "HTML page"],
    ["a reply as one JSON document", "chat", chat({ content: "a" }), "one JSON document instead of a stream"],
    [
      "a reply over several lines",
      "chat",
      JSON.stringify(JSON.parse(chat({ content: "a" })), null, 2),
      "one JSON document instead of a stream",
    ],
    ["an error as one JSON document", "chat", '{"error":{"message":"no"}}', "an error with a 2xx status"],
    ["an error item", "chat", TEXT + event({ error: { message: "no" } }), undefined, { error: true }],
    [
      "an error event",
      "messages",
      framed(MESSAGE.slice(0, 3)) + framed([{ type: "error" }]),
      undefined,
      { error: true },
    ],
    [
      "an error by its object",
      "chat",
      TEXT + event({ object: "error", message: "no" }) + DONE,
      undefined,
      { error: true },
    ],
    ["an error of a framework", "chat", TEXT + event({ detail: "no" }) + DONE, undefined, { error: true }],
    ["errors", "chat", TEXT + event({ errors: [{ title: "no" }] }) + DONE, undefined, { error: true }],
    ["an error by its code", "chat", TEXT + event({ code: 503, msg: "no" }) + DONE, undefined, { error: true }],
    ["an error as the finish reason", "chat", TEXT + event(delta({}, "error")) + DONE, undefined, { error: true }],
    ["plain text as data", "chat", TEXT + event("upstream connect error") + DONE, undefined, { error: true }],
    ["a line of plain text", "chat", `${TEXT}Internal Server Error\n\n${DONE}`, undefined, { error: true }],
  ])("%s (%s)", (_what, dialect, body, defect, { usage = undefined, error = undefined } = {}) => {
    const whole = checkStream(dialect, body, usage === true);
    expect([whole.defect, whole.error]).toEqual([defect, error === true]);
    // The load engine reads the body as it arrives. The result does not depend on where it is split.
    for (const size of [1, 7, body.length + 1]) {
      const scanner = new EventScanner();
      for (let at = 0; at < body.length; at += size) scanner.feed(body.slice(at, at + size));
      scanner.end();
      expect([scanner.defect(dialect, usage === true), scanner.error], `in pieces of ${size}`).toEqual([
        defect,
        error === true,
      ]);
    }
  });
});
