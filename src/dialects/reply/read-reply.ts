import { isObject, listOf, member } from "../../core/index.ts";
import type { Dialect } from "../dialect.ts";
import { type CalledTool, chatCall, messagesCall } from "./called-tools.ts";

/** A non-streaming reply, read tolerantly: ignores unknown fields and blocks, never throws. */
export interface ReplyReading {
  /** JSON pointer of the dialect's reply text. */
  readonly textPointer: string;
  /** Reply text; `null` if the field is null, `undefined` if it does not exist. */
  readonly text: string | null | undefined;
  /** Whether the list that must hold the reply (`choices`, `content`) is an array, and its length. */
  readonly parts: number | undefined;
  /** Numeric members of `usage`, nested ones with dotted names; `undefined` if `usage` is not an object. */
  readonly usage: Readonly<Record<string, number>> | undefined;
  /** The error object in a reply, if any. */
  readonly error: unknown;
  readonly finishReason: unknown;
  /** In order. */
  readonly toolCalls: readonly CalledTool[];
}

export function readReply(dialect: Dialect, json: unknown): ReplyReading {
  return dialect === "chat" ? readChat(json) : readMessages(json);
}

function readChat(json: unknown): ReplyReading {
  const choices = member(json, "choices");
  const first: unknown = Array.isArray(choices) ? choices[0] : undefined;
  const message = member(first, "message");
  const content = member(message, "content");
  return {
    textPointer: "/choices/0/message/content",
    text: typeof content === "string" || content === null ? content : undefined,
    parts: Array.isArray(choices) ? choices.length : undefined,
    usage: countsOf(member(json, "usage")),
    error: errorOf(json),
    finishReason: member(first, "finish_reason"),
    toolCalls: listOf(member(message, "tool_calls")).map(chatCall),
  };
}

function readMessages(json: unknown): ReplyReading {
  const content = member(json, "content");
  const blocks = listOf(content);
  // Text is taken from text blocks only (MSG-13): tool-use, thinking and unknown blocks have other shapes.
  const texts = blocks
    .filter((block) => member(block, "type") === undefined || member(block, "type") === "text")
    .map((block) => member(block, "text"))
    .filter((text) => typeof text === "string");
  return {
    textPointer: "/content/*/text",
    text: texts.length === 0 ? undefined : texts.join(""),
    parts: Array.isArray(content) ? content.length : undefined,
    usage: countsOf(member(json, "usage")),
    error: errorOf(json),
    finishReason: member(json, "stop_reason"),
    toolCalls: blocks.filter((block) => member(block, "type") === "tool_use").map(messagesCall),
  };
}

function errorOf(json: unknown): unknown {
  const error = member(json, "error");
  if (error !== undefined && error !== null) return error;
  return member(json, "type") === "error" ? json : undefined;
}

/** Token counts of a usage object: every finite number in it, down to one level of nesting. */
export function countsOf(usage: unknown): Readonly<Record<string, number>> | undefined {
  if (!isObject(usage)) return undefined;
  const counts: Record<string, number> = {};
  for (const [name, value] of Object.entries(usage)) {
    if (typeof value === "number") counts[name] = value;
    if (!isObject(value)) continue;
    for (const [inner, nested] of Object.entries(value)) {
      if (typeof nested === "number") counts[`${name}.${inner}`] = nested;
    }
  }
  return counts;
}
