import type { Response } from "../../../src/checks/index.ts";
import { member } from "../../../src/core/index.ts";
import { parseJson } from "../../../src/dialects/index.ts";

/** A tool call as a caller receives it, in either dialect and mode. */
export interface Called {
  readonly id: unknown;
  readonly name: unknown;
  /** Parsed arguments; `undefined` if they are not JSON. */
  readonly input: unknown;
  /** The arguments as received, which need not be JSON. */
  readonly fragments: string;
}

/** The tool calls of a reply, in order; those of a stream are joined from their fragments. */
export function calledTools(response: Response): readonly Called[] {
  return response.streamed ? streamedCalls(response) : callsIn(response.json);
}

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

function callsIn(json: unknown): Called[] {
  const message = member(listOf(member(json, "choices"))[0], "message");
  const inMessages = listOf(member(json, "content")).filter((block) => member(block, "type") === "tool_use");
  return [
    ...listOf(member(message, "tool_calls")).map(chatCall),
    ...inMessages.map((block) => {
      const input = member(block, "input");
      return { id: member(block, "id"), name: member(block, "name"), input, fragments: JSON.stringify(input) ?? "" };
    }),
  ];
}

/** A call of the chat dialect, whose arguments are text. */
export function chatCall(call: unknown): Called {
  const called = member(call, "function");
  const text = member(called, "arguments");
  const fragments = typeof text === "string" ? text : "";
  return { id: member(call, "id"), name: member(called, "name"), input: parseJson(fragments), fragments };
}

/** A call of which more fragments may follow. */
interface Joined {
  id: unknown;
  name: unknown;
  input: unknown;
  fragments: string;
}

function streamedCalls({ stream }: Response): Called[] {
  const calls = new Map<unknown, Joined>();
  const at = (index: unknown): Joined => {
    const known = calls.get(index) ?? { id: undefined, name: undefined, input: undefined, fragments: "" };
    calls.set(index, known);
    return known;
  };
  for (const { json } of stream.events) {
    for (const part of listOf(member(member(listOf(member(json, "choices"))[0], "delta"), "tool_calls"))) {
      const call = at(member(part, "index"));
      const { id, name, fragments } = chatCall(part);
      call.id ??= id;
      call.name ??= name;
      call.fragments += fragments;
    }
    const block = member(json, "content_block");
    if (member(block, "type") === "tool_use") {
      const call = at(member(json, "index"));
      call.id ??= member(block, "id");
      call.name ??= member(block, "name");
      call.input = member(block, "input");
    }
    const fragment = member(member(json, "delta"), "partial_json");
    if (typeof fragment === "string") at(member(json, "index")).fragments += fragment;
  }
  // A block without fragments has its arguments at its start.
  return [...calls.values()].map((call) =>
    call.fragments === "" ? call : { ...call, input: parseJson(call.fragments) },
  );
}
