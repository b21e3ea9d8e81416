import type { Response } from "../../src/checks/index.ts";
import { isObject, listOf, member } from "../../src/core/index.ts";
import { type CalledTool, parseJson } from "../../src/dialects/index.ts";
import { aString, filledString, isTrue, that, type Verdict } from "../../src/judging/index.ts";
import { judgeOrder } from "./messages-stream.ts";

type Call = Omit<CalledTool, "fragments">;

const anObjectOfArguments = that("a JSON object", isObject);

export function chatChoice(json: unknown): unknown {
  const choices = member(json, "choices");
  return Array.isArray(choices) ? choices[0] : undefined;
}

export function judgeCalls(calls: readonly Call[], response: Response, verdict: Verdict, where: string): void {
  const seen = { in: response };
  if (
    !verdict.compat("COMPAT-TOOLS", calls.length > 0, isTrue("one"), {
      ...seen,
      because: `a tool call in the ${where}`,
    })
  )
    return;
  for (const { id, name, input } of calls) {
    verdict.compat("COMPAT-TOOLS", id, filledString, { ...seen, because: `${where}: id of the call` });
    verdict.compat("COMPAT-TOOLS", name, filledString, { ...seen, because: `${where}: name of the tool` });
    verdict.compat("COMPAT-TOOLS", input, anObjectOfArguments, { ...seen, because: `${where}: arguments` });
  }
  verdict.compat("COMPAT-TOOLS", new Set(calls.map(({ id }) => id)).size, calls.length, {
    ...seen,
    because: `${where}: calls have different ids`,
  });
}

function judgeStreamedCalls(calls: readonly Call[], response: Response, verdict: Verdict, expected: number): void {
  judgeCalls(calls, response, verdict, "streaming");
  const seen = { in: response, because: "as many calls as in the non-streaming reply" };
  if (expected > 0) verdict.compat("COMPAT-TOOLS", calls.length, expected, seen);
}

/** Joins the fragments of a chat stream by their index. */
export function judgeChatStream(response: Response, verdict: Verdict, expected: number): number {
  const seen = { in: response };
  const parts = new Map<number, { ids: unknown[]; names: unknown[]; text: string }>();
  const finishes: unknown[] = [];
  for (const { json } of response.stream.events) {
    const choice = chatChoice(json);
    const finish = member(choice, "finish_reason");
    if (finish !== null && finish !== undefined) finishes.push(finish);
    for (const fragment of listOf(member(member(choice, "delta"), "tool_calls"))) {
      const index = member(fragment, "index");
      if (
        !verdict.compat("COMPAT-TOOLS", index, that("a whole number", Number.isSafeInteger), {
          ...seen,
          at: "/choices/0/delta/tool_calls/0/index",
        })
      )
        continue;
      const part = parts.get(index as number) ?? { ids: [], names: [], text: "" };
      parts.set(index as number, part);
      const id = member(fragment, "id");
      if (id !== undefined && id !== null && id !== "") part.ids.push(id);
      const name = member(member(fragment, "function"), "name");
      if (name !== undefined && name !== null && name !== "") part.names.push(name);
      const text = member(member(fragment, "function"), "arguments");
      if (
        text !== undefined &&
        verdict.compat("COMPAT-TOOLS", text, aString, { ...seen, because: "argument fragments are text" })
      )
        part.text += text;
    }
  }
  for (const { ids, names } of parts.values()) {
    verdict.compat("COMPAT-TOOLS", new Set(ids).size, 1, { ...seen, because: "one id per call in the stream" });
    // Clients concatenate what they receive: a repeated name becomes get_weatherget_weather.
    verdict.compat("COMPAT-TOOLS", names.length, 1, { ...seen, because: "the name comes once per call in the stream" });
  }
  const calls = [...parts.values()].map(({ ids, names, text }) => ({
    id: ids[0],
    name: names[0],
    input: parseJson(text),
  }));
  judgeStreamedCalls(calls, response, verdict, expected);
  verdict.compat("COMPAT-TOOLS", finishes.at(-1), "tool_calls", { ...seen, at: "/choices/0/finish_reason" });
  return calls.length;
}

/** Joins the fragments of a message stream by their block. */
export function judgeMessagesStream(response: Response, verdict: Verdict, expected: number): number {
  judgeOrder(response, verdict);
  const seen = { in: response };
  const blocks = new Map<unknown, { block: unknown; text: string }>();
  let stopReason: unknown;
  for (const { json } of response.stream.events) {
    const type = member(json, "type");
    const index = member(json, "index");
    if (type === "content_block_start") blocks.set(index, { block: member(json, "content_block"), text: "" });
    if (type === "message_delta") stopReason = member(member(json, "delta"), "stop_reason");
    const block = blocks.get(index);
    if (type !== "content_block_delta" || block === undefined) continue;
    const kind = member(member(json, "delta"), "type");
    const expected = member(block.block, "type") === "tool_use" ? "input_json_delta" : "text_delta";
    if (expected === "input_json_delta" || kind === "input_json_delta")
      verdict.compat("COMPAT-TOOLS", kind, expected, { ...seen, at: "/delta/type", because: "deltas fit their block" });
    const fragment = member(member(json, "delta"), "partial_json");
    if (typeof fragment === "string") block.text += fragment;
  }
  const calls = [...blocks.values()]
    .filter(({ block }) => member(block, "type") === "tool_use")
    .map(({ block, text }) => ({
      id: member(block, "id"),
      name: member(block, "name"),
      input: text === "" ? member(block, "input") : parseJson(text),
    }));
  judgeStreamedCalls(calls, response, verdict, expected);
  verdict.compat("COMPAT-TOOLS", stopReason, "tool_use", { ...seen, at: "/delta/stop_reason" });
  return calls.length;
}
