import { describe, expect, test } from "vitest";
import { outputOf } from "../../../src/dialects/reply/reply-output.ts";

const delta = (fields: object) => ({ choices: [{ index: 0, delta: fields }] });

describe("the text that one item of a stream adds", () => {
  test.each<[what: string, item: unknown, text: string | undefined, other: boolean]>([
    ["no object", "text", undefined, false],
    ["nothing", undefined, undefined, false],
    ["a list", ["text"], undefined, false],
    ["a chunk", delta({ content: "a" }), "a", false],
    ["an empty chunk", delta({ content: "" }), "", false],
    ["a null chunk", delta({ content: null }), undefined, false],
    ["a chunk in parts", delta({ content: [{ text: "a" }, { image: 1 }, { text: "b" }] }), "ab", true],
    ["a chunk in parts without text", delta({ content: [{ image: 1 }] }), undefined, true],
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
    ["a tool call", delta({ tool_calls: [{ index: 0, function: { name: "f", arguments: "" } }] }), undefined, true],
    ["a tool call without anything", delta({ tool_calls: [{ index: 0, type: "function" }] }), undefined, false],
    [
      "thinking in parts",
      delta({ content: [{ type: "thinking", thinking: [{ type: "text", text: "hm" }] }] }),
      undefined,
      true,
    ],
    ["reasoning details", delta({ reasoning_details: [{ type: "reasoning.text", text: "hm" }] }), undefined, true],
    [
      "reasoning details without text",
      delta({ reasoning_details: [{ type: "reasoning.text", text: "" }] }),
      undefined,
      false,
    ],
    ["a refusal", delta({ refusal: "no" }), undefined, true],
    ["a called function", delta({ function_call: { name: "f", arguments: "{" } }), undefined, true],
    ["audio", delta({ audio: { id: "a", data: "UklG" } }), undefined, true],
    [
      "bookkeeping",
      delta({ role: "assistant", content: "", provider_specific_fields: { citations: null } }),
      "",
      false,
    ],
    ["a second choice", { choices: [{ delta: { content: "" } }, { delta: { content: "b" } }] }, "", true],
    [
      "a thinking block that begins",
      { type: "content_block_start", content_block: { type: "thinking", thinking: "", signature: "" } },
      undefined,
      false,
    ],
    [
      "a thinking block",
      { type: "content_block_delta", delta: { type: "thinking_delta", thinking: "hm" } },
      undefined,
      true,
    ],
    [
      "a signature",
      { type: "content_block_delta", delta: { type: "signature_delta", signature: "x" } },
      undefined,
      false,
    ],
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
    ["a number is not text", { text: 1, token: { text: 2 } }, undefined, false],
    ["no known place", { odd: "a" }, undefined, false],
    ["a type that is not text", { type: 7, text: "a" }, "a", false],
  ])("%s", (_what, item, text, other) => {
    expect(outputOf(item)).toEqual({ text, other });
  });

  test("an unknown field is output, and is named", () => {
    expect(outputOf(delta({ mystery: ["a"] }))).toEqual({ text: undefined, other: true, unknownField: "mystery" });
    expect(outputOf(delta({ mystery: [""], content: "a" }))).toEqual({ text: "a", other: false });
  });
});
