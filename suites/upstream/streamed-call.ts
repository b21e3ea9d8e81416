import type { Response } from "../../src/checks/index.ts";
import { member } from "../../src/core/index.ts";
import { parseJson } from "../../src/dialects/index.ts";

export interface Call {
  readonly name: unknown;
  readonly input: unknown;
}

/** With the arguments as received, which need not be JSON. */
interface StreamedCall extends Call {
  readonly fragments: string;
}

/** Joins the fragments of the only tool call of a stream, in either dialect. */
export function streamedCall({ stream }: Response): StreamedCall {
  let name: unknown;
  let fragments = "";
  for (const { json } of stream.events) {
    const calls = member(member(firstOf(member(json, "choices")), "delta"), "tool_calls");
    const called = member(firstOf(calls), "function");
    name ??= member(called, "name") ?? member(member(json, "content_block"), "name");
    const fragment = member(called, "arguments") ?? member(member(json, "delta"), "partial_json");
    if (typeof fragment === "string") fragments += fragment;
  }
  return { name, input: parseJson(fragments), fragments };
}

const firstOf = (list: unknown): unknown => (Array.isArray(list) ? list[0] : undefined);
