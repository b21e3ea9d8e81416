import { isObject, member } from "../core/index.ts";

/** What one item of a stream adds to the reply. */
export interface Output {
  /** Reply text; `undefined` when the item has no place for it. */
  readonly text: string | undefined;
  /** Output of another kind: reasoning, tool arguments. It counts as output, not as text. */
  readonly other: boolean;
}

const NONE: Output = { text: undefined, other: false };

/**
 * Finds the reply text in an item of a stream, whatever dialect it is in. The chunk shape is not part of the
 * specification (STREAM-5), so that a reader which knows one shape only would call every other one empty.
 */
export function outputOf(item: unknown): Output {
  if (!isObject(item)) return NONE;
  const choices = member(item, "choices");
  if (Array.isArray(choices)) return fromChoice(choices[0]);
  if (typeof item["type"] === "string") {
    const known = fromMessagesEvent(item["type"], item);
    if (known !== undefined) return known;
  }
  return fromUnknownShape(item);
}

function fromChoice(choice: unknown): Output {
  const delta = member(choice, "delta") ?? member(choice, "message");
  const other =
    isFilled(member(delta, "tool_calls")) ||
    isFilled(member(delta, "reasoning_content")) ||
    isFilled(member(delta, "reasoning"));
  return { text: textOf(member(delta, "content")) ?? textOf(member(choice, "text")), other };
}

function fromMessagesEvent(type: string, item: Record<string, unknown>): Output | undefined {
  switch (type) {
    case "content_block_delta": {
      const delta = member(item, "delta");
      const text = member(delta, "text");
      return typeof text === "string" ? { text, other: false } : { text: undefined, other: isObject(delta) };
    }
    case "content_block_start": {
      const text = member(member(item, "content_block"), "text");
      return { text: typeof text === "string" ? text : undefined, other: false };
    }
    case "message_start":
      return { text: textOf(member(member(item, "message"), "content")), other: false };
    case "message":
      return { text: textOf(member(item, "content")), other: false };
    case "message_delta":
    case "message_stop":
    case "content_block_stop":
    case "ping":
    case "error":
      return NONE;
    default:
      return undefined;
  }
}

/** Places in which streams of other dialects carry text. Only strings count: a guess must not invent output. */
const GUESSES = ["text", "content", "delta", "token", "response", "output_text", "completion"] as const;

function fromUnknownShape(item: Record<string, unknown>): Output {
  for (const name of GUESSES) {
    const value = member(item, name);
    const text =
      typeof value === "string" ? value : (textOf(member(value, "text")) ?? textOf(member(value, "content")));
    if (text !== undefined) return { text, other: false };
  }
  return { text: textOf(member(member(item, "message"), "content")), other: false };
}

/** Text of a content value: a string, or the joined text parts of an array. */
function textOf(content: unknown): string | undefined {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return undefined;
  const parts = content.map((part) => member(part, "text")).filter((text) => typeof text === "string");
  return parts.length === 0 ? undefined : parts.join("");
}

function isFilled(value: unknown): boolean {
  return Array.isArray(value) ? value.length > 0 : typeof value === "string" && value !== "";
}
