import { describe, expect, test } from "vitest";
import { outputOf } from "../../src/dialects/output-text.ts";

const delta = (fields: object) => ({ choices: [{ index: 0, delta: fields }] });

describe("the text that one item of a stream adds", () => {
  test.each<[what: string, item: unknown, text: string | undefined, other: boolean]>([
    ["no object", "text", undefined, false],
    ["nothing", undefined, undefined, false],
    ["a list", ["text"], undefined, false],
    ["a chunk", delta({ content: "a" }), "a", false],
    ["an empty chunk", delta({ content: "" }), "", false],
    ["a null chunk", delta({ content: null }), undefined, false],
    ["a chunk in parts", delta({ content: [{ text: "a" }, { image: 1 }, { text: "b" }] }), "ab", false],
    ["a chunk in parts without text", delta({ content: [{ image: 1 }] }), undefined, false],
    ["a message in place of a delta", { choices: [{ message: { content: "a" } }] }, "a", false],
    ["a completion", { choices: [{ text: "a" }] }, "a", false],
    [
      "a delta goes before a message",
      { choices: [{ delta: { content: "a" }, message: { content: "b" } }] },
      "a",
      false,
    ],
    ["content goes before text", { choices: [{ delta: { content: "a" }, text: "b" }] }, "a", false],
    ["the first choice", { choices: [{ delta: { content: "a" } }, { delta: { content: "b" } }] }, "a", false],
    ["no choice", { choices: [], text: "not here" }, undefined, false],
    ["a tool call", delta({ tool_calls: [{}] }), undefined, true],
    ["no tool call", delta({ tool_calls: [], content: "a" }), "a", false],
    ["reasoning", delta({ reasoning_content: "hm" }), undefined, true],
    ["reasoning by another name", delta({ reasoning: "hm", content: "" }), "", true],
    ["no reasoning", delta({ reasoning: "", reasoning_content: null }), undefined, false],
    ["a block's text", { type: "content_block_delta", delta: { type: "text_delta", text: "a" } }, "a", false],
    ["a block's arguments", { type: "content_block_delta", delta: { partial_json: "{" } }, undefined, true],
    ["a block without delta", { type: "content_block_delta" }, undefined, false],
    ["a block that begins with text", { type: "content_block_start", content_block: { text: "a" } }, "a", false],
    [
      "a block that begins without",
      { type: "content_block_start", content_block: { type: "tool_use" } },
      undefined,
      false,
    ],
    ["a message that begins", { type: "message_start", message: { content: [{ text: "a" }] } }, "a", false],
    ["a message that begins empty", { type: "message_start", message: { content: [] } }, undefined, false],
    ["a whole message", { type: "message", content: [{ type: "text", text: "a" }] }, "a", false],
    ...["message_delta", "message_stop", "content_block_stop", "ping", "error"].map(
      (type): [string, unknown, undefined, false] => [
        type,
        { type, text: "not here", delta: "nor here" },
        undefined,
        false,
      ],
    ),
    ["an unknown type", { type: "response.output_text.delta", delta: "a" }, "a", false],
    ...["text", "content", "delta", "token", "response", "output_text", "completion"].flatMap(
      (name): [string, unknown, string, false][] => [
        [`${name}, a string`, { [name]: "a" }, "a", false],
        [`${name} with text`, { [name]: { text: "a", content: "b" } }, "a", false],
        [`${name} with content`, { [name]: { content: "b" } }, "b", false],
      ],
    ),
    ["a token with its text", { token: { id: 1, text: "a" } }, "a", false],
    ["a message", { message: { role: "assistant", content: "a" } }, "a", false],
    ["a number is no text", { text: 1, token: { text: 2 } }, undefined, false],
    ["no known place", { odd: "a" }, undefined, false],
    ["a type that is no text", { type: 7, text: "a" }, "a", false],
  ])("%s", (_what, item, text, other) => {
    expect(outputOf(item)).toEqual({ text, other });
  });
});
