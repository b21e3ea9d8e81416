import { listOf, member } from "../../core/index.ts";
import { parseJson } from "../json-values.ts";
import { finishOf } from "./reply-defect.ts";

/** A tool call as a caller receives it, in either dialect and mode. */
export interface CalledTool {
  readonly id: unknown;
  readonly name: unknown;
  /** Parsed arguments; `undefined` if they are not JSON. */
  readonly input: unknown;
  /** The arguments as received, which need not be JSON. */
  readonly fragments: string;
}

/** A call of the chat dialect, whose arguments are text; also a part of one in a stream. */
export function chatCall(call: unknown): CalledTool {
  const called = member(call, "function");
  const text = member(called, "arguments");
  const fragments = typeof text === "string" ? text : "";
  return { id: member(call, "id"), name: member(called, "name"), input: parseJson(fragments), fragments };
}

/** A `tool_use` block of the messages dialect, whose input is JSON. */
export function messagesCall(block: unknown): CalledTool {
  const input = member(block, "input");
  return { id: member(block, "id"), name: member(block, "name"), input, fragments: JSON.stringify(input) ?? "" };
}

/** Joins the tool calls of a stream from their fragments, in either dialect. */
export class StreamedCalls {
  readonly #calls = new Map<unknown, { -readonly [Name in keyof CalledTool]: CalledTool[Name] }>();
  /** The last finish reason or stop reason. */
  finishReason: string | undefined;

  /** @param json data of the next event. */
  add(json: unknown): void {
    this.finishReason = finishOf(json).at(-1) ?? this.finishReason;
    for (const part of listOf(member(member(listOf(member(json, "choices"))[0], "delta"), "tool_calls"))) {
      const call = this.#at(member(part, "index"));
      const { id, name, fragments } = chatCall(part);
      call.id ??= id;
      call.name ??= name;
      call.fragments += fragments;
    }
    const block = member(json, "content_block");
    if (member(block, "type") === "tool_use") {
      const call = this.#at(member(json, "index"));
      call.id ??= member(block, "id");
      call.name ??= member(block, "name");
      call.input = member(block, "input");
    }
    const fragment = member(member(json, "delta"), "partial_json");
    if (typeof fragment === "string") this.#at(member(json, "index")).fragments += fragment;
  }

  #at(index: unknown) {
    const known = this.#calls.get(index) ?? { id: undefined, name: undefined, input: undefined, fragments: "" };
    this.#calls.set(index, known);
    return known;
  }

  /** The calls so far, in the order in which they began. */
  get calls(): readonly CalledTool[] {
    // A block without fragments has its arguments at its start.
    return [...this.#calls.values()].map((call) =>
      call.fragments === "" ? { ...call } : { ...call, input: parseJson(call.fragments) },
    );
  }
}
