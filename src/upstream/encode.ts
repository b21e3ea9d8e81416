import type { JsonObject } from "../core/index.ts";
import type { Behaviour } from "./scenario.ts";

export type Dialect = "chat" | "messages";

/** What a request asked for, as far as it changes the answer. */
export interface Asked {
  readonly dialect: Dialect;
  readonly model: string;
  readonly stream: boolean;
  /** Whether a chat stream ends with its usage (`stream_options.include_usage`). */
  readonly includeUsage: boolean;
}

/** A reply that is no stream. */
export function replyOf(behaviour: Behaviour, { dialect, model }: Asked): JsonObject {
  const text = piecesOf(behaviour).join("");
  const { tool } = behaviour;
  if (dialect === "messages")
    return {
      ...messageHead(model),
      content: [tool === undefined ? { type: "text", text } : { ...TOOL_USE, name: tool.name, input: tool.arguments }],
      stop_reason: tool === undefined ? "end_turn" : "tool_use",
      stop_sequence: null,
      usage: { ...inputTokens(behaviour), output_tokens: outputTokens(behaviour) },
    };
  const called = tool && { ...CALL, function: { name: tool.name, arguments: JSON.stringify(tool.arguments) } };
  const message = called === undefined ? { content: text } : { content: null, tool_calls: [called] };
  return {
    ...chatHead(model, "chat.completion"),
    choices: [{ index: 0, message: { role: "assistant", ...message }, finish_reason: finishReason(behaviour) }],
    usage: chatUsage(behaviour),
  };
}

/** An event of a stream, and whether it carries a piece of the reply. */
export interface UpstreamEvent {
  readonly text: string;
  readonly isPiece: boolean;
}

/** The events of a streamed reply. */
export function eventsOf(behaviour: Behaviour, asked: Asked): readonly UpstreamEvent[] {
  return asked.dialect === "chat" ? chatEvents(behaviour, asked) : messagesEvents(behaviour, asked);
}

function chatEvents(behaviour: Behaviour, { model, includeUsage }: Asked): UpstreamEvent[] {
  const head = chatHead(model, "chat.completion.chunk");
  const usage = includeUsage ? { usage: null } : {};
  const chunk = (delta: JsonObject, isPiece: boolean, finish: string | null = null): UpstreamEvent =>
    event({ ...head, choices: [{ index: 0, delta, finish_reason: finish }], ...usage }, isPiece);
  const { tool } = behaviour;
  const start = tool && { index: 0, ...CALL, function: { name: tool.name, arguments: "" } };
  return [
    chunk({ role: "assistant", content: tool === undefined ? "" : null }, false),
    ...(start === undefined ? [] : [chunk({ tool_calls: [start] }, true)]),
    ...piecesOf(behaviour).map((text) =>
      chunk(
        tool === undefined ? { content: text } : { tool_calls: [{ index: 0, function: { arguments: text } }] },
        true,
      ),
    ),
    chunk({}, false, finishReason(behaviour)),
    ...(includeUsage ? [event({ ...head, choices: [], usage: chatUsage(behaviour) }, false)] : []),
    { text: "data: [DONE]\n\n", isPiece: false },
  ];
}

function messagesEvents(behaviour: Behaviour, { model }: Asked): UpstreamEvent[] {
  const { tool } = behaviour;
  const message = { ...messageHead(model), content: [], stop_reason: null, stop_sequence: null };
  const named = (type: string, fields: JsonObject, isPiece = false) => event({ type, ...fields }, isPiece, type);
  const block = tool === undefined ? { type: "text", text: "" } : { ...TOOL_USE, name: tool.name, input: {} };
  return [
    named("message_start", { message: { ...message, usage: { ...inputTokens(behaviour), output_tokens: 0 } } }),
    named("content_block_start", { index: 0, content_block: block }),
    ...piecesOf(behaviour).map((text) =>
      named(
        "content_block_delta",
        {
          index: 0,
          delta: tool === undefined ? { type: "text_delta", text } : { type: "input_json_delta", partial_json: text },
        },
        true,
      ),
    ),
    named("content_block_stop", { index: 0 }),
    named("message_delta", {
      delta: { stop_reason: tool === undefined ? "end_turn" : "tool_use", stop_sequence: null },
      usage: { output_tokens: outputTokens(behaviour) },
    }),
    named("message_stop", {}),
  ];
}

/** What providers call the errors of a status; the messages dialect, the chat dialect. */
const ERROR_TYPES: Readonly<Record<number, readonly [string, string]>> = {
  400: ["invalid_request_error", "invalid_request_error"],
  401: ["authentication_error", "invalid_request_error"],
  403: ["permission_error", "invalid_request_error"],
  404: ["not_found_error", "invalid_request_error"],
  413: ["request_too_large", "invalid_request_error"],
  429: ["rate_limit_error", "rate_limit_exceeded"],
  529: ["overloaded_error", "overloaded_error"],
};

/** The body of an error. */
export function errorBody({ status, type, message }: NonNullable<Behaviour["error"]>, dialect: Dialect): JsonObject {
  const [inMessages, inChat] = ERROR_TYPES[status] ?? ["api_error", "server_error"];
  return dialect === "messages"
    ? { type: "error", error: { type: type ?? inMessages, message } }
    : { error: { message, type: type ?? inChat, param: null, code: null } };
}

const CALL = { id: "call_upstream0", type: "function" } as const;
const TOOL_USE = { type: "tool_use", id: "toolu_upstream0" } as const;
/** Moment of all replies, s: what is the same can be serialised once. */
const CREATED_S = 1_767_225_600;

const chatHead = (model: string, object: string) => ({ id: "chatcmpl-upstream", object, created: CREATED_S, model });

const messageHead = (model: string) => ({ id: "msg_upstream", type: "message", role: "assistant", model });

const finishReason = ({ tool }: Behaviour) => (tool === undefined ? "stop" : "tool_calls");

const outputTokens = ({ usage, pieces }: Behaviour) => usage.output ?? pieces;

/** The messages dialect counts what came from the cache apart; the chat dialect counts it among the prompt's. */
const inputTokens = ({ usage: { input, cached } }: Behaviour) => ({
  input_tokens: Math.max(0, input - cached),
  cache_creation_input_tokens: 0,
  cache_read_input_tokens: cached,
});

function chatUsage(behaviour: Behaviour): JsonObject {
  const { input, cached } = behaviour.usage;
  const output = outputTokens(behaviour);
  return {
    prompt_tokens: input,
    completion_tokens: output,
    total_tokens: input + output,
    prompt_tokens_details: { cached_tokens: cached },
  };
}

/** The pieces of a reply: numbered words, the text of the scenario, or the arguments of a tool, these in equal parts. */
function piecesOf({ pieces, pieceBytes, tool, text }: Behaviour): string[] {
  const whole = tool === undefined ? text : JSON.stringify(tool.arguments);
  if (whole === undefined)
    return Array.from({ length: pieces }, (_, index) =>
      `${`w${index}`.padEnd(pieceBytes - 1, "-")} `.slice(-pieceBytes),
    );
  const characters = [...whole];
  const each = Math.ceil(characters.length / pieces);
  return Array.from({ length: Math.ceil(characters.length / each) }, (_, index) =>
    characters.slice(index * each, (index + 1) * each).join(""),
  );
}

function event(data: JsonObject, isPiece: boolean, name?: string): UpstreamEvent {
  return { text: `${name === undefined ? "" : `event: ${name}\n`}data: ${JSON.stringify(data)}\n\n`, isPiece };
}
