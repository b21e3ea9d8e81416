import { isObject, type JsonObject, type JsonValue, listOf, member } from "../../core/index.ts";
import type { Call } from "../pipeline/behaviour.ts";
import type { RelayedPiece } from "../pipeline/response.ts";
import { onProviderBody, onRelayedReply, onRelayedStream } from "./provider-edits.ts";
import { type Apply, all } from "./wrap.ts";

/** A tool call without the form of a dialect. */
export interface ToolCall {
  readonly id: string;
  readonly name: string;
  /** The arguments as JSON text. */
  readonly text: string;
}

type EditCalls = (calls: readonly ToolCall[], call: Call) => readonly ToolCall[];

/** Changes the value of a call's arguments. */
export const withArguments =
  (edit: (input: JsonValue) => JsonValue) =>
  (call: ToolCall): ToolCall => ({ ...call, text: JSON.stringify(edit(JSON.parse(call.text) as JsonValue)) });

/** Changes every value inside a JSON value, from the inside out; `undefined` removes a member. */
export function mapValues(value: JsonValue, edit: (value: JsonValue) => JsonValue | undefined): JsonValue {
  const inner = (one: JsonValue) => edit(mapValues(one, edit));
  if (Array.isArray(value)) return (value as readonly JsonValue[]).map((item) => inner(item) ?? null);
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value as JsonObject).flatMap(([name, one]) => {
      const edited = inner(one);
      return edited === undefined ? [] : [[name, edited] as const];
    }),
  );
}

const hasTools = (call: Call): boolean => listOf(member(call.parsed, "tools")).length > 0;

/**
 * Changes the tool calls of a real provider's replies. Those of a stream arrive together, each with all of its arguments in
 * fragments of a given length.
 */
export function onRelayedCalls(
  edit: EditCalls,
  fragmentsOf: (text: string) => readonly string[] = (text) => [text],
): Apply {
  return all(
    onRelayedReply((value, call) => (hasTools(call) ? inReply(value, (calls) => edit(calls, call)) : value)),
    onRelayedStream((pieces, call) =>
      hasTools(call) ? inStream(pieces, { edit: (calls) => edit(calls, call), fragmentsOf }) : pieces,
    ),
  );
}

function inReply(value: JsonObject, edit: (calls: readonly ToolCall[]) => readonly ToolCall[]): JsonObject {
  const content = value["content"];
  if (Array.isArray(content)) {
    const blocks = content as readonly JsonObject[];
    const isCall = ({ type }: JsonObject) => type === "tool_use";
    const edited = edit(blocks.filter(isCall).map(callOfBlock)).map(({ id, name, text }) => ({
      ...{ type: "tool_use", id, name },
      input: JSON.parse(text) as JsonValue,
    }));
    return { ...value, content: [...blocks.filter((block) => !isCall(block)), ...edited] };
  }
  const choices = listOf(value["choices"]) as readonly JsonObject[];
  return {
    ...value,
    choices: choices.map((choice) => {
      const message = choice["message"] as JsonObject;
      const calls = listOf(message["tool_calls"]) as readonly JsonObject[];
      if (calls.length === 0) return choice;
      return { ...choice, message: { ...message, tool_calls: edit(calls.map(callOfChat)).map(chatForm) } };
    }),
  };
}

const callOfBlock = ({ id, name, input }: JsonObject): ToolCall => ({
  id: String(id),
  name: String(name),
  text: JSON.stringify(input),
});

const callOfChat = (call: JsonObject): ToolCall => ({
  id: String(call["id"]),
  name: String(member(call["function"], "name")),
  text: String(member(call["function"], "arguments")),
});

const chatForm = ({ id, name, text }: ToolCall): JsonObject => ({
  ...{ id, type: "function" },
  function: { name, arguments: text },
});

interface StreamEdit {
  readonly edit: (calls: readonly ToolCall[]) => readonly ToolCall[];
  readonly fragmentsOf: (text: string) => readonly string[];
}

/** Reads the whole stream, and replaces the events of its tool calls, in the place of the first. */
async function* inStream(pieces: AsyncIterable<RelayedPiece>, edit: StreamEdit): AsyncGenerator<RelayedPiece> {
  let text = "";
  const decoder = new TextDecoder();
  for await (const piece of pieces) {
    if (piece.isBroken) {
      yield { ...piece, bytes: Buffer.concat([Buffer.from(text), piece.bytes]) };
      return;
    }
    text += decoder.decode(piece.bytes, { stream: true });
  }
  const events = text.split(/(?<=\n\n)/).map((event) => ({ event, json: dataOf(event) }));
  const isOfCalls = ({ json }: (typeof events)[number]) => toolDeltas(json).length > 0 || callBlocks.has(json);
  const callBlocks = blocksOfCalls(events.map(({ json }) => json));
  const first = events.findIndex(isOfCalls);
  const own = events.filter(isOfCalls).map(({ json }) => json);
  const changed = own.length === 0 ? [] : eventsOf(edit.edit(joined(own)), own, edit);
  const kept = events.flatMap((one, at) => [...(at === first ? changed : []), ...(isOfCalls(one) ? [] : [one.event])]);
  yield { bytes: Buffer.from(kept.join("")), tokens: 1, isBroken: false };
}

function dataOf(event: string): unknown {
  const data = /(?:^|\n)data: ([^\n]*)\n/.exec(event)?.[1] ?? "";
  return data.startsWith("{") ? JSON.parse(data) : undefined;
}

const toolDeltas = (json: unknown): readonly JsonObject[] =>
  listOf(member(member(listOf(member(json, "choices"))[0], "delta"), "tool_calls")) as readonly JsonObject[];

/** Events of the blocks that are tool calls: start, deltas, stop. */
function blocksOfCalls(all: readonly unknown[]): ReadonlySet<unknown> {
  const indexes = new Set(
    all
      .filter((json) => member(member(json, "content_block"), "type") === "tool_use")
      .map((json) => member(json, "index")),
  );
  return new Set(all.filter((json) => isObject(json) && "index" in json && indexes.has(json["index"])));
}

function joined(events: readonly unknown[]): ToolCall[] {
  const calls = new Map<unknown, ToolCall>();
  const add = (index: unknown, { id, name, text = "" }: Partial<ToolCall>) => {
    const known = calls.get(index) ?? { id: id ?? "", name: name ?? "", text: "" };
    calls.set(index, { ...known, text: known.text + text });
  };
  for (const json of events) {
    for (const delta of toolDeltas(json)) add(delta["index"], callOfChat(delta));
    const block = member(json, "content_block");
    if (isObject(block)) add(member(json, "index"), { id: String(block["id"]), name: String(block["name"]) });
    const fragment = member(member(json, "delta"), "partial_json");
    if (typeof fragment === "string") add(member(json, "index"), { text: fragment });
  }
  return [...calls.values()];
}

function eventsOf(calls: readonly ToolCall[], own: readonly unknown[], { fragmentsOf }: StreamEdit): string[] {
  const [head] = own as readonly [JsonObject];
  if (toolDeltas(head).length > 0) {
    const [choice] = head["choices"] as readonly JsonObject[];
    const chunk = (delta: JsonObject) =>
      `data: ${JSON.stringify({ ...head, choices: [{ ...choice, delta: { tool_calls: [delta] } }] })}\n\n`;
    return calls.flatMap((call, index) => [
      chunk({ index, ...chatForm({ ...call, text: "" }) }),
      ...fragmentsOf(call.text).map((text) => chunk({ index, function: { arguments: text } })),
    ]);
  }
  const named = (type: string, fields: JsonObject) =>
    `event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`;
  return calls.flatMap(({ id, name, text }, at) => {
    const index = Number(head["index"]) + at;
    return [
      named("content_block_start", { index, content_block: { type: "tool_use", id, name, input: {} } }),
      ...fragmentsOf(text).map((partial_json) =>
        named("content_block_delta", { index, delta: { type: "input_json_delta", partial_json } }),
      ),
      named("content_block_stop", { index }),
    ];
  });
}

/** Changes the tools in requests to real providers: the part with the name, which the chat dialect wraps. */
export function onProviderTools(edit: (tool: JsonObject) => JsonObject): Apply {
  return onToolList((tools) =>
    tools.map((tool) => {
      const own = tool["function"];
      return isObject(own) ? { ...tool, function: edit(own as JsonObject) } : edit(tool);
    }),
  );
}

/** Changes the list of tools in requests to real providers. */
export function onToolList(edit: (tools: readonly JsonObject[]) => readonly JsonObject[]): Apply {
  return onProviderBody((body) =>
    Array.isArray(body["tools"]) ? { ...body, tools: edit(body["tools"] as readonly JsonObject[]) } : body,
  );
}

/** Changes the schema of a tool, whatever its dialect. */
export const withSchema =
  (edit: (schema: JsonValue) => JsonValue) =>
  (tool: JsonObject): JsonObject => ({
    ...tool,
    ...(tool["parameters"] === undefined ? {} : { parameters: edit(tool["parameters"]) }),
    ...(tool["input_schema"] === undefined ? {} : { input_schema: edit(tool["input_schema"]) }),
  });

/** The members that hold tool calls and results of earlier turns; each is undefined if it is to stay as it is. */
interface HistoryEdit {
  /** @param call a member of `tool_calls`, or a `tool_use` block. */
  readonly call?: (call: JsonObject) => JsonObject;
  /** @param result a turn with the role `tool`, or a `tool_result` block; `undefined` removes it. */
  readonly result?: (result: JsonObject, index: number) => JsonObject | undefined;
}

/** Changes tool calls and tool results of earlier turns in requests to real providers. */
export function onToolHistory({ call = (same) => same, result = (same) => same }: HistoryEdit): Apply {
  return onProviderBody((body) => {
    let results = 0;
    const turns = listOf(body["messages"]) as readonly JsonObject[];
    const messages = turns.flatMap((turn) => {
      if (turn["role"] === "tool") return [result(turn, results++) ?? []].flat();
      const calls = turn["tool_calls"];
      const content = turn["content"];
      return [
        {
          ...turn,
          ...(Array.isArray(calls) ? { tool_calls: (calls as readonly JsonObject[]).map(call) } : {}),
          ...(Array.isArray(content)
            ? {
                content: (content as readonly JsonObject[]).flatMap((block) => {
                  if (block["type"] === "tool_use") return [call(block)];
                  return block["type"] === "tool_result" ? [result(block, results++) ?? []].flat() : [block];
                }),
              }
            : {}),
        },
      ];
    });
    return { ...body, messages: messages as JsonObject[] };
  });
}

/** Changes the value of the arguments of an earlier call, whatever its dialect. */
export const withEarlierArguments =
  (edit: (input: JsonValue) => JsonValue, indent = 0) =>
  (call: JsonObject): JsonObject => {
    const own = call["function"];
    if (!isObject(own)) return { ...call, input: edit(call["input"] ?? {}) };
    const input = edit(JSON.parse(String(own["arguments"])) as JsonValue);
    return { ...call, function: { ...(own as JsonObject), arguments: JSON.stringify(input, null, indent) } };
  };

/** Changes the requested format of structured output: its schema and, in the chat dialect, its name and `strict`. */
export function onFormat(edit: (format: JsonObject) => JsonObject): Apply {
  return onProviderBody((body) => {
    const inChat = body["response_format"];
    const inMessages = member(body["output_config"], "format");
    if (isObject(inChat) && isObject(inChat["json_schema"]))
      return {
        ...body,
        response_format: { ...inChat, json_schema: edit(inChat["json_schema"] as JsonObject) } as JsonObject,
      };
    if (isObject(inMessages)) return { ...body, output_config: { format: edit(inMessages as JsonObject) } };
    return body;
  });
}
