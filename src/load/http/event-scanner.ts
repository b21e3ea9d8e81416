import { member, trim } from "../../core/index.ts";
import { isEndMarker, outputOf, parseJson } from "../../dialects/index.ts";

/** What a scanner saw so far. */
export interface StreamFacts {
  /** Whole events, or JSON items where there is no event framing. */
  readonly events: number;
  /** Events that carried content. */
  readonly contentEvents: number;
  /** Output tokens of the last `usage` that was seen; `undefined` when there was none. */
  readonly usageTokens: number | undefined;
  readonly ended: boolean;
  readonly error: boolean;
}

/** How content tokens of either dialect nearly always look: found without parsing. */
const CHAT_TOKEN = '"delta":{"content":"';
const MESSAGES_TOKEN = '"delta":{"type":"text_delta","text":"';
const QUOTE = 34;
/** Output tokens of one reply that can be true. */
const MOST_TOKENS = 10_000_000;
/** Longest unfinished event that is kept, characters; beyond it the stream is read without its events. */
const LONGEST_EVENT = 4 * 1024 * 1024;

/**
 * Finds events and content tokens in the pieces of a stream. Assumes no chunk shape: what does not look like the usual
 * delta is parsed and read as the conformance half reads it.
 */
export class EventScanner implements StreamFacts {
  events = 0;
  contentEvents = 0;
  usageTokens: number | undefined;
  ended = false;
  error = false;
  /** Value of the last `x_send_ns` stamp, for calibration; `undefined` when there was none. */
  stampNs: number | undefined;
  readonly #stamped: boolean;
  #tail = "";
  #framing: "unknown" | "events" | "items" = "unknown";

  constructor(stamped = false) {
    this.#stamped = stamped;
  }

  /** @returns how many content tokens the piece completed. */
  feed(piece: string): number {
    let text = this.#tail === "" ? piece : this.#tail + piece;
    if (text.includes("\r")) {
      // A CR at the end may be half of a CRLF.
      const held = text.endsWith("\r");
      text = (held ? text.slice(0, -1) : text).replace(/\r\n?/g, "\n") + (held ? "\r" : "");
    }
    if (this.#framing === "unknown") {
      const first = /[^\s\uFEFF\u00ef\u00bb\u00bf]/.exec(text)?.[0];
      if (first === undefined) {
        this.#tail = text;
        return 0;
      }
      this.#framing = first === "{" || first === "[" ? "items" : "events";
    }
    const separator = this.#framing === "events" ? "\n\n" : "\n";
    const before = this.contentEvents;
    let from = 0;
    for (let end = text.indexOf(separator, from); end !== -1; end = text.indexOf(separator, from)) {
      if (end > from) this.#event(text.slice(from, end));
      from = end + separator.length;
    }
    this.#tail = from === 0 ? text : text.slice(from);
    if (this.#tail.length > LONGEST_EVENT) this.#tail = "";
    return this.contentEvents - before;
  }

  /** What was not dispatched at the end still counts where items are not terminated by a line end. */
  end(): void {
    if (this.#framing === "items" && this.#tail.trim() !== "") this.#event(this.#tail);
    this.#tail = "";
  }

  #event(block: string): void {
    if (this.#stamped) this.#readStamp(block);
    if (isToken(block, CHAT_TOKEN) || isToken(block, MESSAGES_TOKEN)) {
      this.events++;
      this.contentEvents++;
      return;
    }
    const data = this.#framing === "events" ? dataOf(block) : withoutBrackets(block);
    if (data === undefined) return;
    this.events++;
    const json = parseJson(data);
    if (isEndMarker({ name: undefined, raw: data, json, start: 0, end: 0 })) {
      this.ended = true;
      return;
    }
    const { text, other } = outputOf(json);
    if ((text !== undefined && text !== "") || other) this.contentEvents++;
    const usage = member(json, "usage") ?? member(member(json, "message"), "usage");
    const tokens = member(usage, "completion_tokens") ?? member(usage, "output_tokens");
    // A count that is none, or beyond sense, is left to the judges of the samples.
    if (Number.isInteger(tokens) && Number(tokens) > 0 && Number(tokens) <= MOST_TOKENS)
      this.usageTokens = Number(tokens);
    const error = member(json, "error");
    if ((error !== undefined && error !== null) || member(json, "type") === "error" || /^event: ?error$/m.test(block))
      this.error = true;
  }

  #readStamp(block: string): void {
    const at = block.indexOf('"x_send_ns":"');
    if (at === -1) return;
    this.stampNs = Number(block.slice(at + 13, block.indexOf('"', at + 13)));
  }
}

/** An item of a long array without what stands around it. */
function withoutBrackets(block: string): string {
  return trim(block, "[, \t\r\n", "], \t\r\n");
}

/** Whether the event carries text at a known place; an empty one, as in a chunk that only names the role, is no token. */
function isToken(block: string, marker: string): boolean {
  const at = block.indexOf(marker);
  return at !== -1 && block.charCodeAt(at + marker.length) !== QUOTE;
}

/** Joined data lines of an event; `undefined` for comments and names alone. */
function dataOf(block: string): string | undefined {
  if (block.startsWith("data: ") && !block.includes("\n")) return block.slice(6);
  const lines = block
    .split("\n")
    .filter((line) => line.startsWith("data:"))
    .map((line) => line.slice(5).replace(/^ /, ""));
  return lines.length === 0 ? undefined : lines.join("\n");
}
