import { describe, expect, test } from "vitest";
import { conversationItems } from "../../suites/upstream/tools/conversation-items.ts";
import { definitionsIn, RICH_TOOLS, toolIn } from "../../suites/upstream/tools/definitions.ts";
import { differenceFrom } from "../../suites/upstream/tools/difference.ts";

describe("the dialects are compared by what they mean", () => {
  const chat = {
    messages: [
      { role: "user", content: "How is the weather?" },
      {
        role: "assistant",
        content: "I look.",
        tool_calls: [
          { id: "a", type: "function", function: { name: "weather", arguments: '{ "n": 1.0, "at": null }' } },
          { id: "b", type: "function", function: { name: "weather", arguments: "{}" } },
        ],
      },
      { role: "tool", tool_call_id: "a", content: "cold" },
      { role: "tool", tool_call_id: "b", content: [{ type: "text", text: "warm" }] },
      { role: "user", content: "Where?" },
    ],
  };
  const messages = (first: string, second: string) => ({
    messages: [
      { role: "user", content: [{ type: "text", text: "How is the weather?" }] },
      {
        role: "assistant",
        content: [
          { type: "text", text: "I look." },
          { type: "tool_use", id: "x", name: "weather", input: { at: null, n: 1 } },
          { type: "tool_use", id: "y", name: "weather", input: {} },
        ],
      },
      {
        role: "user",
        content: [
          { type: "tool_result", tool_use_id: first, content: "cold" },
          { type: "tool_result", tool_use_id: second, content: [{ type: "text", text: "warm" }] },
          { type: "text", text: "Where?" },
        ],
      },
    ],
  });

  test("calls and results of a conversation, whatever their ids", () => {
    const expected = conversationItems(chat);
    expect(expected.map(({ kind }) => kind)).toEqual(["text", "text", "call", "call", "result", "result", "text"]);
    expect(conversationItems(messages("x", "y"))).toEqual(expected);
    expect(conversationItems(messages("y", "x"))).not.toEqual(expected);
    expect(conversationItems(messages("x", "z"))).toContainEqual(expect.objectContaining({ call: undefined }));
  });

  test("two calls with one id are not two calls", () => {
    const same = JSON.parse(JSON.stringify(messages("x", "x")).replaceAll('"y"', '"x"')) as unknown;
    expect(differenceFrom(conversationItems(chat), conversationItems(same))).toBe("/3/call: 1 instead of 2");
  });

  test("definitions of tools", () => {
    const [inChat, inMessages] = (["chat", "messages"] as const).map((dialect) =>
      definitionsIn({ tools: RICH_TOOLS.map((tool) => toolIn(dialect, tool)) }),
    );
    expect(inMessages).toEqual(inChat);
    expect(inChat?.map(({ name, schema }) => ({ name, schema }))).toEqual(
      RICH_TOOLS.map(({ name, schema }) => ({ name, schema })),
    );
  });
});

test.each([
  [{ a: [1, { b: null }] }, { a: [1, {}] }, "/a/1/b: lost"],
  [{ a: 1 }, { a: 1, "b/c": 2 }, "/b~1c: added"],
  [{ a: 1 }, { a: "1" }, '/a: "1" instead of 1'],
  [[1, 2], [1], "/1: lost"],
  [{ a: [] }, { a: {} }, "/a: {} instead of []"],
  [{ a: 1, b: [{}] }, { b: [{}], a: 1 }, undefined],
  [1, undefined, "nothing instead of 1"],
])("the difference between %j and %j is %s", (expected, actual, difference) => {
  expect(differenceFrom(expected, actual)).toBe(difference);
});
