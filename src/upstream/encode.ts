import { randomBytes } from "node:crypto";
import type { JsonObject } from "../core/index.ts";
import type { Behaviour, ScriptedToolCall } from "./scenario.ts";

export type Dialect = "chat" | "messages";

/** The parts of a request that affect its response. */
export interface ResponseParams {
  readonly dialect: Dialect;
  readonly model: string;
  readonly stream: boolean;
  /** Whether a chat stream ends with its usage (`stream_options.include_usage`). */
  readonly includeUsage: boolean;
}

/** A non-streaming reply. */
export function replyOf(behaviour: Behaviour, { dialect, model }: ResponseParams): JsonObject {
  const calls = callsOf(behaviour);
  const text = calls.length === 0 ? textPieces(behaviour).join("") : "";
  const reasoning = reasoningOf(behaviour).join("");
  if (dialect === "messages")
    return {
      ...messageHead(model),
      content: [
        ...(reasoning === "" ? [] : [{ ...THINKING, thinking: reasoning }]),
        ...(calls.length === 0 ? [{ type: "text", text }] : []),
        ...calls.map((call, index) => ({ ...toolUse(call, index), input: inputOf(call, behaviour) })),
      ],
      stop_reason: calls.length === 0 ? "end_turn" : "tool_use",
      stop_sequence: null,
      usage: { ...inputTokens(behaviour), output_tokens: outputTokens(behaviour) },
    };
  const called = calls.map((call, index) => functionCall(call, index, argumentPieces(call, behaviour).join("")));
  const message = {
    ...(calls.length === 0 ? { content: text } : { content: null, tool_calls: called }),
    ...(reasoning === "" ? {} : { reasoning_content: reasoning }),
  };
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
export function eventsOf(behaviour: Behaviour, requested: ResponseParams): readonly UpstreamEvent[] {
  return requested.dialect === "chat" ? chatEvents(behaviour, requested) : messagesEvents(behaviour, requested);
}

function chatEvents(behaviour: Behaviour, { model, includeUsage }: ResponseParams): UpstreamEvent[] {
  const head = chatHead(model, "chat.completion.chunk");
  const usage = includeUsage ? { usage: null } : {};
  const chunk = (delta: JsonObject, isPiece: boolean, finish: string | null = null): UpstreamEvent =>
    event({ ...head, choices: [{ index: 0, delta, finish_reason: finish }], ...usage }, isPiece);
  const calls = callsOf(behaviour);
  const callChunks = (call: ScriptedToolCall, index: number) => [
    chunk({ tool_calls: [{ index, ...functionCall(call, index, "") }] }, true),
    ...argumentPieces(call, behaviour).map((text) =>
      chunk({ tool_calls: [{ index, function: { arguments: text } }] }, true),
    ),
  ];
  return [
    chunk({ role: "assistant", content: calls.length === 0 ? "" : null }, false),
    ...reasoningOf(behaviour).map((text) => chunk({ reasoning_content: text }, true)),
    ...(calls.length === 0
      ? textPieces(behaviour).map((text) => chunk({ content: text }, true))
      : calls.flatMap(callChunks)),
    chunk({}, false, finishReason(behaviour)),
    ...(includeUsage ? [event({ ...head, choices: [], usage: chatUsage(behaviour) }, false)] : []),
    { text: "data: [DONE]\n\n", isPiece: false },
  ];
}

function messagesEvents(behaviour: Behaviour, { model }: ResponseParams): UpstreamEvent[] {
  const calls = callsOf(behaviour);
  const message = { ...messageHead(model), content: [], stop_reason: null, stop_sequence: null };
  const named = (type: string, fields: JsonObject, isPiece = false) => event({ type, ...fields }, isPiece, type);
  const reasoning = reasoningOf(behaviour);
  const block = (index: number, start: JsonObject, deltas: readonly JsonObject[]) => [
    named("content_block_start", { index, content_block: start }),
    ...deltas.map((delta) => named("content_block_delta", { index, delta }, true)),
    named("content_block_stop", { index }),
  ];
  const thought = reasoning.map((thinking) => ({ type: "thinking_delta", thinking }));
  const first = reasoning.length === 0 ? 0 : 1;
  const textBlock = () => {
    const deltas = textPieces(behaviour).map((text) => ({ type: "text_delta", text }));
    return block(first, { type: "text", text: "" }, deltas);
  };
  const callBlock = (call: ScriptedToolCall, index: number) =>
    block(
      first + index,
      { ...toolUse(call, index), input: {} },
      argumentPieces(call, behaviour).map((text) => ({ type: "input_json_delta", partial_json: text })),
    );
  return [
    named("message_start", { message: { ...message, usage: { ...inputTokens(behaviour), output_tokens: 0 } } }),
    ...(reasoning.length === 0 ? [] : block(0, THINKING, thought)),
    ...(calls.length === 0 ? textBlock() : calls.flatMap(callBlock)),
    named("message_delta", {
      delta: { stop_reason: calls.length === 0 ? "end_turn" : "tool_use", stop_sequence: null },
      usage: { output_tokens: outputTokens(behaviour) },
    }),
    named("message_stop", {}),
  ];
}

/** Providers' error types by status; the messages dialect, the chat dialect. */
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

const THINKING = { type: "thinking", thinking: "", signature: "" } as const;
/** Creation time of all replies, s: identical replies can be serialised once. */
const CREATED_S = 1_767_225_600;

/** Stands for the part of a reply's id that differs between replies; both have the same length. */
const NO_ID = "0".repeat(20);
const CHAT_ID = `chatcmpl-${NO_ID}`;
const MESSAGE_ID = `msg_${NO_ID}`;

const chatHead = (model: string, object: string) => ({ id: CHAT_ID, object, created: CREATED_S, model });

const messageHead = (model: string) => ({ id: MESSAGE_ID, type: "message", role: "assistant", model });

/** Inside of strings, the quotes would be escaped. */
const ID_MEMBERS = [CHAT_ID, MESSAGE_ID].map((id) => `"id":"${id}"`);

/** Where the id of the reply is to be inserted into the bytes of an event or a body; `undefined`: it is not in them. */
export function idOffsetIn(bytes: Buffer): number | undefined {
  for (const id of ID_MEMBERS) {
    const at = bytes.indexOf(id);
    if (at >= 0) return at + id.length - 1 - NO_ID.length;
  }
  return undefined;
}

/** Distinguishes the ids of this process from those of others: gateways store ids as keys of their rows. */
const PROCESS_ID = randomBytes(4).toString("hex");

/** The part of a reply's id that differs between replies. @param request number of the request */
export const replyId = (request: number): string =>
  PROCESS_ID + String(request).padStart(NO_ID.length - PROCESS_ID.length, "0");

const finishReason = ({ tool }: Behaviour) => (tool === undefined ? "stop" : "tool_calls");

const callsOf = ({ tool }: Behaviour): readonly ScriptedToolCall[] => (tool === undefined ? [] : [tool].flat());

const functionCall = ({ id, name }: ScriptedToolCall, index: number, text: string) => ({
  id: id ?? `call_upstream${index}`,
  type: "function",
  function: { name, arguments: text },
});

const toolUse = ({ id, name }: ScriptedToolCall, index: number) => ({
  type: "tool_use",
  id: id ?? `toolu_upstream${index}`,
  name,
});

const outputTokens = (behaviour: Behaviour) => behaviour.usage.output ?? wordsOf(behaviour).length;

/** The messages dialect counts cached input tokens separately; the chat dialect includes them in the prompt. */
function inputTokens({ usage: { input, cached, cacheWrite5m, cacheWrite1h } }: Behaviour): JsonObject {
  const written = cacheWrite5m + cacheWrite1h;
  return {
    input_tokens: Math.max(0, input - cached - written),
    cache_creation_input_tokens: written,
    cache_read_input_tokens: cached,
    ...(written === 0
      ? {}
      : {
          cache_creation: { ephemeral_5m_input_tokens: cacheWrite5m, ephemeral_1h_input_tokens: cacheWrite1h },
        }),
  };
}

function chatUsage(behaviour: Behaviour): JsonObject {
  const { input, cached, reasoning } = behaviour.usage;
  const output = outputTokens(behaviour);
  return {
    prompt_tokens: input,
    completion_tokens: output,
    total_tokens: input + output,
    prompt_tokens_details: { cached_tokens: cached },
    ...(reasoning === 0 ? {} : { completion_tokens_details: { reasoning_tokens: reasoning } }),
  };
}

/** Numbered words of the sizes in the scenario. */
function wordsOf({ pieces, pieceBytes }: Behaviour): string[] {
  const sizes = typeof pieceBytes === "number" ? Array<number>(pieces).fill(pieceBytes) : pieceBytes;
  return sizes.map((bytes, index) => `${`w${index}`.padEnd(bytes - 1, "-")} `.slice(-bytes));
}

const AFTER_REASONING = "done";

const reasoningOf = (behaviour: Behaviour): string[] => (behaviour.reasoning ? wordsOf(behaviour) : []);

const inputOf = (call: ScriptedToolCall, behaviour: Behaviour): JsonObject =>
  (call.arguments as JsonObject | undefined) ?? { text: wordsOf(behaviour).join("") };

/** The pieces of a text reply: numbered words, or equal parts of the scenario's text. */
function textPieces(behaviour: Behaviour): string[] {
  const { pieces, text, reasoning } = behaviour;
  const whole = text ?? (reasoning ? AFTER_REASONING : undefined);
  return whole === undefined ? wordsOf(behaviour) : equalParts(whole, pieces);
}

/** The fragments of a tool call's arguments. */
function argumentPieces(call: ScriptedToolCall, behaviour: Behaviour): string[] {
  return call.arguments === undefined
    ? argumentsOf(wordsOf(behaviour))
    : equalParts(JSON.stringify(call.arguments), behaviour.pieces);
}

function equalParts(whole: string, parts: number): string[] {
  const characters = [...whole];
  const each = Math.ceil(characters.length / parts);
  return Array.from({ length: Math.ceil(characters.length / each) }, (_, index) =>
    characters.slice(index * each, (index + 1) * each).join(""),
  );
}

/** Fragments of the arguments of a tool with a single text argument: one for each of its words. */
function argumentsOf(words: readonly string[]): string[] {
  const [first, last] = ['{"text":"', '"}'];
  return words.map((word, index) => `${index === 0 ? first : ""}${word}${index === words.length - 1 ? last : ""}`);
}

function event(data: JsonObject, isPiece: boolean, name?: string): UpstreamEvent {
  return { text: `${name === undefined ? "" : `event: ${name}\n`}data: ${JSON.stringify(data)}\n\n`, isPiece };
}
