/**
 * Finds the output in a reply, or in one item of a streaming reply. Like `reply-defect.ts`, this file imports nothing else from
 * the project, because the k6 scripts use a generated copy of both, so that every engine reads replies in the same way.
 */

/** What one item of a stream, or a complete reply, adds to the output. */
export interface Output {
  /** Reply text; `undefined` if the item has no field for it. */
  readonly text: string | undefined;
  /** Output of another kind: reasoning, tool calls, a refusal, audio. It counts as output, not as text. */
  readonly other: boolean;
  /** A field with output that no known client reads, for example `mystery_tokens`. */
  readonly unknownField?: string;
}

export type Fields = Readonly<Record<string, unknown>>;

export const NO_OUTPUT: Output = { text: undefined, other: false };
/** Fields of a delta, a message or a content block that are metadata, not output. */
const BOOKKEEPING: readonly string[] = [
  ...["role", "name", "id", "index", "type", "object", "created", "model", "status", "phase", "recipient"],
  ...["logprobs", "annotations", "citations", "provider_specific_fields", "obfuscation", "padding", "token_ids"],
  ...["signature", "format", "stop_reason", "stop_sequence", "finish_reason", "usage", "metadata", "cache_control"],
];
/** Fields in which known gateways send output that is not the reply text. */
const KNOWN_OUTPUT: readonly string[] = [
  ...["tool_calls", "function_call", "refusal", "audio", "images", "thinking", "thinking_blocks", "reasoning"],
  ...[
    "reasoning_content",
    "reasoning_details",
    "reasoning_text",
    "partial_json",
    "input",
    "citation",
    "data",
    "source",
  ],
];

/**
 * Finds the output in an item of a stream, whatever dialect it is in. The chunk shape is not part of the specification
 * (STREAM-5), and a reader that knows only one shape would treat all others as empty. So everything that is neither text nor
 * bookkeeping counts as output.
 */
export function outputOf(item: unknown): Output {
  if (!isObject(item)) return NO_OUTPUT;
  const choices = own(item, "choices");
  if (Array.isArray(choices)) return joined(choices.map(fromChoice));
  const type = own(item, "type");
  const known = typeof type === "string" ? fromMessagesEvent(type, item) : undefined;
  return known ?? fromUnknownShape(item);
}

/** Combines parts: the text of the first part that has a text field, and other output of any part. */
export function joined(parts: readonly Output[]): Output {
  if (parts.length === 1) return parts[0] as Output;
  const text = parts.find((part) => part.text !== undefined)?.text;
  const hasMore = parts.some((part) => part.other || (part.text !== undefined && part.text !== "" && text === ""));
  const unknownField = parts.find((part) => part.unknownField !== undefined)?.unknownField;
  return { text, other: hasMore, ...(unknownField === undefined ? {} : { unknownField }) };
}

export function fromChoice(choice: unknown): Output {
  const delta = own(choice, "delta") ?? own(choice, "message");
  const content = own(delta, "content");
  const text = textOf(content) ?? textOf(own(choice, "text"));
  const rest = restOf(delta, ["content"]);
  // Parts of a type other than text: the thinking of Mistral's models, images.
  const hasOtherPart =
    Array.isArray(content) && content.some((part) => own(part, "text") === undefined && isFilled(part));
  return hasOtherPart ? { ...rest, text, other: true } : { ...rest, text };
}

/** Output in the fields of a delta that have not been read yet. */
function restOf(delta: unknown, read: readonly string[]): Output {
  if (!isObject(delta)) return NO_OUTPUT;
  let other = false;
  let unknownField: string | undefined;
  for (const name of Object.keys(delta)) {
    if (read.includes(name) || BOOKKEEPING.includes(name) || !isFilled(delta[name])) continue;
    other = true;
    if (!KNOWN_OUTPUT.includes(name)) unknownField ??= name;
  }
  return { text: undefined, other, ...(unknownField === undefined ? {} : { unknownField }) };
}

function fromMessagesEvent(type: string, item: Fields): Output | undefined {
  switch (type) {
    case "content_block_delta":
      return fromBlock(own(item, "delta"));
    case "content_block_start":
      return fromBlock(own(item, "content_block"));
    case "message_start":
      return fromBlocks(own(own(item, "message"), "content"));
    case "message":
      return fromBlocks(own(item, "content"));
    case "message_delta":
    case "message_stop":
    case "content_block_stop":
    case "ping":
    case "error":
      return NO_OUTPUT;
    default:
      return undefined;
  }
}

function fromBlock(block: unknown): Output {
  const text = own(block, "text");
  const rest = restOf(block, ["text"]);
  // A tool call begins with its name; in a text block a name is bookkeeping.
  const names = own(block, "type") === "tool_use" && isFilled(own(block, "name"));
  return { ...rest, text: typeof text === "string" ? text : undefined, other: rest.other || names };
}

export function fromBlocks(content: unknown): Output {
  if (!Array.isArray(content)) return { ...NO_OUTPUT, text: typeof content === "string" ? content : undefined };
  const texts = content.map((block) => own(block, "text")).filter((text) => typeof text === "string");
  const blocks = content.map(fromBlock);
  return {
    ...joined(blocks),
    text: texts.length === 0 ? undefined : texts.join(""),
    other: blocks.some(({ other }) => other),
  };
}

/** Fields in which streams of other dialects carry text. Only strings count: a guess must not invent output. */
const GUESSES = ["text", "content", "delta", "token", "response", "output_text", "completion"] as const;

function fromUnknownShape(item: Fields): Output {
  for (const name of GUESSES) {
    const value = own(item, name);
    const text = typeof value === "string" ? value : (textOf(own(value, "text")) ?? textOf(own(value, "content")));
    if (text !== undefined) return { text, other: false };
  }
  return { text: textOf(own(own(item, "message"), "content")), other: false };
}

/** Text of a content value: a string, or the joined text parts of an array. */
function textOf(content: unknown): string | undefined {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return undefined;
  const parts = content.map((part) => own(part, "text")).filter((text) => typeof text === "string");
  return parts.length === 0 ? undefined : parts.join("");
}

/** Maximum nesting of output; a hostile body may have a million levels. */
const MAX_DEPTH = 8;

/** Whether a value contains anything other than bookkeeping. */
export function isFilled(value: unknown, depth = 0): boolean {
  if (typeof value === "string") return value !== "";
  if (typeof value === "number" || typeof value === "boolean") return true;
  if (depth > MAX_DEPTH) return true;
  if (Array.isArray(value)) return value.some((inner) => isFilled(inner, depth + 1));
  if (!isObject(value)) return false;
  // The name of a called function is output.
  return Object.keys(value).some(
    (name) => (name === "name" || !BOOKKEEPING.includes(name)) && isFilled(value[name], depth + 1),
  );
}

export function isObject(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Reads a member without walking the prototype: `__proto__` in a body is just a name. */
export function own(value: unknown, name: string): unknown {
  return isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
}
