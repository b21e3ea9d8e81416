import { eventsIn, JsonItems, readEvent } from "./reply-items.ts";
import {
  fromBlocks,
  fromChoice,
  isFilled,
  isObject,
  joined,
  NO_OUTPUT,
  type Output,
  outputOf,
  own,
} from "./reply-output.ts";

/** Why no client can use a 2xx reply. `empty text` is the only defect that working models cause now and then. */
export type ReplyDefect =
  | "empty body"
  | "HTML page"
  | "not JSON"
  | "an event stream instead of one JSON document"
  | "an error with a 2xx status"
  | "JSON without a reply"
  | "empty text"
  | "one JSON document instead of a stream"
  | "a stream without output"
  | "a stream without a final event"
  | "no usage although it was requested"
  | "a content coding that cannot be decoded";

export const EMPTY_TEXT: ReplyDefect = "empty text";

export interface CheckedReply {
  readonly defect: ReplyDefect | undefined;
  /** Output tokens according to `usage`; `undefined` if it does not state them. */
  readonly outputTokens: number | undefined;
}

/** Output tokens that one reply can plausibly have. */
const MAX_TOKENS = 10_000_000;

/** The error instead of output, in the forms that gateways and frameworks use. */
export function errorIn(json: unknown, eventName?: string): unknown {
  if (eventName === "error" && json !== undefined) return json;
  if (!isObject(json)) return eventName === "error" ? eventName : undefined;
  const error = own(json, "error");
  if (error !== undefined && error !== null && error !== false && error !== "") return error;
  if (own(json, "type") === "error" || own(json, "object") === "error") return json;
  if (finishOf(json).includes("error")) return json;
  const isReply = Array.isArray(own(json, "choices")) || own(json, "content") !== undefined;
  if (isReply || typeof own(json, "type") === "string") return undefined;
  const { detail, errors, code, msg, message } = json;
  const hasErrors = Array.isArray(errors) && errors.length > 0;
  const hasCode = isFilled(code) && (typeof msg === "string" || typeof message === "string");
  return isFilled(detail) || hasErrors || hasCode ? json : undefined;
}

const isReason = (value: unknown): value is string => typeof value === "string" && value !== "";

/** Most items of a stream have none. */
const NO_REASONS: readonly string[] = [];

/** The non-empty `finish_reason` or `stop_reason` strings of all choices. */
export function finishOf(json: unknown): readonly string[] {
  const choices = own(json, "choices");
  const found = Array.isArray(choices)
    ? choices.map((choice) => own(choice, "finish_reason")).filter(isReason)
    : NO_REASONS;
  const ofDelta = own(own(json, "delta"), "stop_reason");
  const ofReply = own(json, "stop_reason");
  return isReason(ofDelta) || isReason(ofReply) ? [...found, ...[ofDelta, ofReply].filter(isReason)] : found;
}

/** Finish reasons that explain a reply without text: a token limit, a filter or a refusal. */
const EXPLAINS_EMPTY =
  /length|max|token|filter|safety|refus|recitation|block|prohibit|guardrail|moderat|sensitive|pause/i;

const explainsEmpty = (reasons: readonly string[]): boolean => reasons.some((reason) => EXPLAINS_EMPTY.test(reason));

interface Usage {
  readonly present: boolean;
  readonly outputTokens?: number;
  readonly reasoningTokens: number;
}

/** Output tokens, and how many of them went into reasoning. */
function usageOf(json: unknown): Usage {
  const usage = own(json, "usage") ?? own(own(json, "message"), "usage");
  if (!isObject(usage)) return { present: false, reasoningTokens: 0 };
  const tokens = own(usage, "completion_tokens") ?? own(usage, "output_tokens");
  const details = own(usage, "completion_tokens_details") ?? own(usage, "output_tokens_details");
  const reasoning = own(details, "reasoning_tokens") ?? own(usage, "reasoning_tokens");
  // Invalid and implausible counts are ignored here; the judges of recorded exchanges report them.
  const isCount = (value: unknown) => Number.isInteger(value) && Number(value) > 0 && Number(value) <= MAX_TOKENS;
  return {
    present: true,
    reasoningTokens: isCount(reasoning) ? Number(reasoning) : 0,
    ...(isCount(tokens) ? { outputTokens: Number(tokens) } : {}),
  };
}

/** Checks a complete reply to a non-streaming request. The body decides, not the content type. */
export function checkReply(dialect: "chat" | "messages", body: string): CheckedReply {
  const json = parsed(body);
  if (json === undefined) return { defect: notJson(body), outputTokens: undefined };
  const usage = usageOf(json);
  return { defect: defectOf(dialect, json, usage.reasoningTokens > 0), outputTokens: usage.outputTokens };
}

function notJson(body: string): ReplyDefect {
  const text = body.trimStart();
  if (text === "") return "empty body";
  if (text.startsWith("<")) return "HTML page";
  return /^(?:data|event|id|retry)?:/.test(text) ? "an event stream instead of one JSON document" : "not JSON";
}

function defectOf(dialect: "chat" | "messages", json: unknown, reasoned: boolean): ReplyDefect | undefined {
  const parts = own(json, dialect === "chat" ? "choices" : "content");
  const output = !Array.isArray(parts)
    ? NO_OUTPUT
    : dialect === "chat"
      ? joined(parts.map(fromChoice))
      : fromBlocks(parts);
  const isError = finishOf(json).includes("error");
  if (hasVisible(output) && !isError) return undefined;
  if (isError || errorIn(json) !== undefined) return "an error with a 2xx status";
  if (!Array.isArray(parts)) return "JSON without a reply";
  const reasons = finishOf(json);
  // In the messages dialect, `content: []` with a stop reason is an empty reply. Without one it is not a reply.
  if (dialect === "chat" ? !isObject(own(parts[0], "message")) : parts.length === 0 && reasons.length === 0)
    return "JSON without a reply";
  return reasoned || explainsEmpty(reasons) ? undefined : EMPTY_TEXT;
}

/** Text with only white space is as useless as no text. */
const hasVisible = ({ text, other }: Output): boolean => other || (text !== undefined && /\S/.test(text));

/** A keep-alive sent as data. */
const isKeepAlive = (data: string): boolean =>
  data.length < 64 && /^\W*(?:ping|pong|heart-?beat|keep-?alive)?\W*$/i.test(data);

/** Accumulates the output, usage and ending of a stream. Items are added as they arrive and are not kept. */
export class StreamContent {
  /** Items with output of any kind. */
  outputs = 0;
  /** Some of the output is more than white space. */
  hasVisibleOutput = false;
  outputTokens: number | undefined;
  /** Output tokens that went into reasoning, according to `usage`. */
  reasoningTokens = 0;
  /** The stream had a `[DONE]`, or the `message_stop` of the messages dialect. */
  ended = false;
  error = false;
  #items = 0;
  #isKnownShape = false;
  #hasUsage = false;
  readonly #reasons: string[] = [];

  /** @param json `undefined` if `data` is not JSON. */
  add(data: string, json: unknown, eventName?: string): Output {
    this.#items++;
    if (isEndMarker(data, json)) {
      this.ended = true;
      return NO_OUTPUT;
    }
    if (json === undefined) {
      if (!isKeepAlive(data) && eventName !== "ping") this.error = true;
      return NO_OUTPUT;
    }
    if (errorIn(json, eventName) !== undefined) this.error = true;
    this.noteItem(json);
    const usage = usageOf(json);
    this.#hasUsage ||= usage.present;
    if (usage.reasoningTokens > 0) this.reasoningTokens = usage.reasoningTokens;
    if (usage.outputTokens !== undefined) this.outputTokens = usage.outputTokens;
    const output = outputOf(json);
    if ((output.text ?? "") !== "" || output.other) this.outputs++;
    this.hasVisibleOutput ||= hasVisible(output);
    return output;
  }

  /** Records the shape and the finish reason of an item. Called directly for an item whose output is already counted. */
  noteItem(json: unknown): void {
    this.#isKnownShape ||= Array.isArray(own(json, "choices")) || typeof own(json, "type") === "string";
    for (const reason of finishOf(json)) if (this.#reasons.length < 8) this.#reasons.push(reason);
  }

  /** The defect of a stream that ended without an error. @param usageRequested with `stream_options.include_usage`. */
  defect(usageRequested: boolean): ReplyDefect | undefined {
    if (this.#items === 0 && this.outputs === 0) return "a stream without output";
    const isFinished = this.ended || this.#reasons.length > 0;
    if (this.outputs === 0 && (!isFinished || (this.#reasons.length === 0 && !this.#isKnownShape)))
      return "a stream without output";
    if (!isFinished && this.#isKnownShape) return "a stream without a final event";
    if (!this.hasVisibleOutput && this.reasoningTokens === 0 && !explainsEmpty(this.#reasons)) return EMPTY_TEXT;
    return usageRequested && !this.#hasUsage ? "no usage although it was requested" : undefined;
  }
}

export function isEndMarker(data: string, json: unknown): boolean {
  return data.trim() === "[DONE]" || own(json, "type") === "message_stop";
}

/** Checks the complete body of a response to a streaming request. */
export function checkStream(
  dialect: "chat" | "messages",
  body: string,
  usageRequested: boolean,
): CheckedReply & { readonly error: boolean } {
  const text = body.replace(/^\uFEFF/, "").trim();
  const content = new StreamContent();
  const result = (defect: ReplyDefect | undefined) => ({
    defect,
    error: defect === undefined && content.error,
    outputTokens: content.outputTokens,
  });
  if (text === "") return result("empty body");
  if (text.startsWith("<")) return result("HTML page");
  if (/^[{[]/.test(text)) {
    const items: unknown[] = [];
    const reader = new JsonItems();
    reader.feed(text, (item) => {
      const json = parsed(item);
      content.add(item, json);
      items.push(json);
    });
    reader.end(content);
    if (items.length === 1) return result(defectOfUnstreamed(dialect, items[0]));
  } else {
    for (const { block, isLast } of eventsIn(text)) {
      const { data = "", name, stray } = readEvent(block);
      if (stray) content.error = true;
      const json = parsed(data);
      // A stream may end in the middle of its last event. The missing end is then the defect.
      const isCut = isLast && json === undefined && !isEndMarker(data, json);
      if (data !== "" && !isCut) content.add(data, json, name);
    }
  }
  return result(content.error ? undefined : content.defect(usageRequested));
}

/**
 * The defect of a single JSON document in response to a streaming request: it is not a stream, or it is an error. In the
 * messages dialect it is judged like a non-streaming reply, because the specification does not require that dialect to stream
 * (MSG-14).
 */
export function defectOfUnstreamed(dialect: "chat" | "messages", json: unknown): ReplyDefect | undefined {
  const defect = defectOf(dialect, json, usageOf(json).reasoningTokens > 0);
  if (dialect === "messages" || defect === "an error with a 2xx status") return defect;
  return "one JSON document instead of a stream";
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // Not JSON: the caller decides what that means.
    return undefined;
  }
}
