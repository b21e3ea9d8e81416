import {
  type Dialect,
  defectOfUnstreamed,
  JsonItems,
  parseJson,
  type ReplyDefect,
  readEvent,
  StreamContent,
  type StreamedCalls,
} from "../../../dialects/index.ts";

/** What a scanner has seen so far. */
export interface StreamFacts {
  /** Complete events, or JSON items without event framing. */
  readonly events: number;
  /** Events with output of any kind, and those with reply text. */
  readonly contentEvents: number;
  readonly textEvents: number;
  /** Output tokens of the last `usage`; `undefined` if there was none. */
  readonly usageTokens: number | undefined;
  readonly ended: boolean;
  readonly error: boolean;
}

/** How content tokens nearly always look in each dialect: found without parsing. */
const CHAT_TOKEN = '"delta":{"content":"';
const MESSAGES_TOKEN = '"delta":{"type":"text_delta","text":"';
const QUOTE = 34;
/** Maximum length of an unfinished event, characters; beyond it, the rest of the stream is not scanned. */
const MAX_EVENT_CHARS = 4 * 1024 * 1024;
const FLAT_CHARS = 4 * 1024;
/** Maximum number of unknown field names that are kept per stream. */
const MAX_UNKNOWN_FIELDS = 4;

/**
 * Finds events and content tokens in the pieces of a stream, and decides whether the stream was usable. It assumes no chunk shape: items
 * that do not look like the usual delta are parsed in the same way as in conformance checks.
 */
export class EventScanner implements StreamFacts {
  events = 0;
  textEvents = 0;
  /** Value of the last `x_send_ns` stamp, for calibration; `undefined` if there was none. */
  stampNs: number | undefined;
  /** Part of the stream was too long to be read. */
  isUnread = false;
  /** Fields with output that no known client reads. */
  unknownFields: readonly string[] = [];
  readonly #content = new StreamContent();
  readonly #stamped: boolean;
  readonly #calls: StreamedCalls | undefined;
  #tail = "";
  /** What follows the tail, shorter than `FLAT_CHARS`. */
  #recent = "";
  #isCrHeld = false;
  #framing: "unknown" | "events" | "items" = "unknown";
  #isMarkup = false;
  /** Splits a body without event framing. */
  readonly #items = new JsonItems();
  /** The last event that was recognised without parsing. It may contain the finish reason. */
  #lastToken = "";
  /** The only item of a body without event framing, which therefore is not a stream. */
  #unstreamed: unknown;

  /** @param calls gets the events that may be part of a tool call. */
  constructor(stamped = false, calls?: StreamedCalls) {
    this.#stamped = stamped;
    this.#calls = calls;
  }

  get contentEvents(): number {
    return this.#content.outputs;
  }

  get usageTokens(): number | undefined {
    return this.#content.outputTokens;
  }

  /** The token count that the stream reports, without reasoning tokens that it counts but does not send. */
  get streamedTokens(): number | undefined {
    const { outputTokens, reasoningTokens } = this.#content;
    if (outputTokens === undefined) return undefined;
    return this.contentEvents > this.textEvents ? outputTokens : Math.max(0, outputTokens - reasoningTokens);
  }

  get ended(): boolean {
    return this.#content.ended;
  }

  /** Whether the stream has an error item. A body that is not a stream has no items. */
  get error(): boolean {
    return this.#content.error && !this.#isMarkup && this.#unstreamed === undefined;
  }

  /** @returns how many content tokens the piece completed. */
  feed(piece: string): number {
    // Part of a long line: scanning it would copy the whole line on every read.
    if (this.#framing === "events" && !this.#isCrHeld && !/[\r\n]/.test(piece)) {
      this.#extend(piece);
      return 0;
    }
    let text = this.#takeTail() + piece;
    this.#isCrHeld = false;
    if (text.includes("\r")) {
      // A CR at the end may be half of a CRLF.
      const held = text.endsWith("\r");
      text = (held ? text.slice(0, -1) : text).replace(/\r\n?/g, "\n") + (held ? "\r" : "");
      this.#isCrHeld = held;
    }
    if (this.#framing === "unknown") {
      const first = /[^\s\uFEFF\u00ef\u00bb\u00bf]/.exec(text)?.[0];
      if (first === undefined) {
        this.#tail = text;
        return 0;
      }
      this.#framing = first === "{" || first === "[" ? "items" : "events";
      this.#isMarkup = first === "<";
    }
    const before = this.#content.outputs;
    if (this.#framing === "items") {
      this.#tail = "";
      this.#items.feed(text, (item) => this.#readItem(item));
      if (this.#items.isTooLong) this.isUnread = true;
      return this.#content.outputs - before;
    }
    let from = 0;
    for (let end = text.indexOf("\n\n", from); end !== -1; end = text.indexOf("\n\n", from)) {
      if (end > from) this.#readEvent(text.slice(from, end));
      from = end + 2;
    }
    this.#setTail(from === 0 ? text : text.slice(from));
    return this.#content.outputs - before;
  }

  /** Small pieces are joined into flat strings: V8 keeps a separate object for each piece of a concatenation. */
  #extend(piece: string): void {
    this.#recent += piece;
    if (this.#recent.length < FLAT_CHARS) return;
    this.#setTail(this.#tail + Buffer.from(this.#recent, "latin1").toString("latin1"));
    this.#recent = "";
  }

  #takeTail(): string {
    const tail = this.#tail + this.#recent;
    this.#recent = "";
    return tail;
  }

  #setTail(tail: string): void {
    this.#tail = tail.length > MAX_EVENT_CHARS ? "" : tail;
    if (tail.length > MAX_EVENT_CHARS) this.isUnread = true;
  }

  /** The body has ended. */
  end(): void {
    const rest = this.#takeTail().trim();
    this.#tail = "";
    if (this.#framing === "items") {
      this.#items.end(this.#content);
      if (this.events > 1) this.#unstreamed = undefined;
    } else if (this.#framing === "events") this.#endEvents(rest);
    if (!this.ended && this.#lastToken !== "") {
      const { data } = readEvent(this.#lastToken);
      const json = data === undefined ? undefined : parseJson(data);
      if (json !== undefined) this.#content.noteItem(json);
    }
    this.#lastToken = "";
  }

  /** Some gateways omit the blank line after the end marker. A truncated event does not count as one. */
  #endEvents(rest: string): void {
    const { data, name } = readEvent(rest);
    const json = data === undefined ? undefined : parseJson(data);
    if (json !== undefined || data?.trim() === "[DONE]") this.#content.add(data ?? "", json, name);
  }

  /**
   * The defect of a stream that ended without an error; `undefined` if it is usable.
   *
   * @param usageRequested whether the request had `stream_options.include_usage`.
   */
  defect(dialect: Dialect, usageRequested: boolean): ReplyDefect | undefined {
    if (this.#framing === "unknown") return "empty body";
    if (this.#isMarkup) return "HTML page";
    if (this.#unstreamed !== undefined) return defectOfUnstreamed(dialect, this.#unstreamed);
    if (this.error || this.isUnread) return undefined;
    return this.#content.defect(usageRequested);
  }

  #readEvent(block: string): void {
    if (this.#stamped) this.#readStamp(block);
    // Each event is parsed until one contains more than white space.
    if (this.#content.hasVisibleOutput && (isToken(block, CHAT_TOKEN) || isToken(block, MESSAGES_TOKEN))) {
      this.events++;
      this.textEvents++;
      this.#content.outputs++;
      this.#lastToken = block;
      return;
    }
    const { data, name, stray } = readEvent(block);
    if (stray) this.#content.error = true;
    if (data !== undefined && data !== "") this.#add(data, parseJson(data), name);
  }

  #readItem(item: string): void {
    const json = parseJson(item);
    if (this.events === 0) this.#unstreamed = json;
    this.#add(item, json);
  }

  #add(data: string, json: unknown, name?: string): void {
    this.events++;
    this.#calls?.add(json);
    const { text, unknownField } = this.#content.add(data, json, name);
    if (text !== undefined && text !== "") this.textEvents++;
    if (unknownField !== undefined) this.#noteUnknown(unknownField);
  }

  #noteUnknown(name: string): void {
    if (this.unknownFields.length < MAX_UNKNOWN_FIELDS && !this.unknownFields.includes(name))
      this.unknownFields = [...this.unknownFields, name];
  }

  #readStamp(block: string): void {
    const at = block.indexOf('"x_send_ns":"');
    if (at === -1) return;
    this.stampNs = Number(block.slice(at + 13, block.indexOf('"', at + 13)));
  }
}

/** Whether the event has text in a known place; an empty text, as in a chunk that only sets the role, is not a token. */
function isToken(block: string, marker: string): boolean {
  const at = block.indexOf(marker);
  return at !== -1 && block.charCodeAt(at + marker.length) !== QUOTE;
}
