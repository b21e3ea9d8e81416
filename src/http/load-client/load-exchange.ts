import { performance } from "node:perf_hooks";
import { member } from "../../core/index.ts";
import {
  checkReply,
  checkStream,
  type Dialect,
  hasTooManyValues,
  parseJson,
  type ReplyDefect,
  retryAfterWaitMs,
  StreamedCalls,
} from "../../dialects/index.ts";
import { Histogram } from "../../metrics/index.ts";
import type { Exchange } from "../recorder/index.ts";
import { CapturedPiece } from "./body/captured-piece.ts";
import { CollectedBody } from "./body/collected-body.ts";
import { type DecodedText, decodedText, MAX_CHECKED_BYTES } from "./body/content-coding.ts";
import { EventScanner } from "./body/event-scanner.ts";
import { countInBody, countStreamed, type OfferedTools, type ToolCallCounts } from "./body/tool-call-check.ts";
import { headPattern, headValue } from "./head-fields.ts";
import type { ResponseListener } from "./response-parser.ts";

/** Monotonic, microseconds with fractions; the time base of all timestamps. */
export const nowUs = (): number => performance.now() * 1_000;

/** Identifies the span of a request, as lower-case hex: 16 and 8 bytes. */
export interface TraceIds {
  readonly traceId: string;
  readonly spanId: string;
}

/** A request that is ready to be written. */
export interface PreparedRequest {
  /** Where it is sent to. */
  readonly url: string;
  readonly dialect: Dialect;
  readonly stream: boolean;
  /** Head and body as written. Contains the key: never logged, never stored in a record. */
  readonly bytes: Buffer;
  /** Name of the key in use. */
  readonly key: string;
  /** Keep the body, up to the sender's bound: for samples and for texts that are judged. */
  readonly capture: boolean;
  /** The request has `stream_options.include_usage`, so its stream must report its usage. */
  readonly usageRequested?: boolean;
  /** It requests the model list, not a reply. */
  readonly isListing?: boolean;
  /** Number of the turn in its session, from 1. */
  readonly turn?: number | undefined;
  /** Text that an echoing model must repeat in its reply. */
  readonly nonce?: string | undefined;
  /** The tools in the request; its reply's calls are then counted. */
  readonly tools?: OfferedTools | undefined;
  /** Its span, if a trace header is sent, and the requested model. */
  readonly trace?: (TraceIds & { readonly model: string }) | undefined;
}

/** Why a 2xx reply could not be checked: a limit of Gauntlet, or one of the engine. */
const TOO_LARGE = "larger than 4 MiB";
const NOT_DECODED = "in a content coding that the engine does not decode";
export const UNREAD: readonly string[] = [TOO_LARGE, NOT_DECODED];

/** Called with the stamp of the last event of a read, and the time of the read. For calibration. */
export type OnStamp = (stampNs: number, readUs: number, exchange: LoadExchange) => void;

export type Ending = Exchange["ending"]["kind"];

const RETRY_AFTER = headPattern("retry-after");
const DATE = headPattern("date");
const CODED = headPattern("content-encoding");
/** Gaps that a stream stores individually until its outcome is known; further ones are counted in a histogram. */
const MAX_GAPS = 4_096;

/**
 * One request on its connection: timestamps, counters, and no bytes unless it is to be kept. It is the mutable state of a socket,
 * and hundreds of thousands of them are counted without allocating another object; judges get an `Observation` made from it. 0
 * means "not yet".
 */
export class LoadExchange implements ResponseListener {
  readonly prepared: PreparedRequest;
  readonly dueUs: number;
  /** When writing began; 0 before. */
  sentUs = 0;
  /** Time that the request waited for a new connection to open, µs; 0 on an open one. */
  connectUs = 0;
  headUs = 0;
  /** First byte of the body. */
  firstByteUs = 0;
  firstEventUs = 0;
  /** First output of any kind: text, reasoning, tool call. */
  firstTokenUs = 0;
  /** First token of the reply text. */
  firstTextUs = 0;
  lastTokenUs = 0;
  endUs = 0;
  status = 0;
  head = "";
  ending: Ending = "complete";
  detail = "";
  reads = 0;
  bodyBytes = 0;
  longestGapUs = 0;
  gapsUs: number[] = [];
  /** For streams with very many gaps: those before `gapsUs`. */
  earlierGaps: Histogram | undefined;
  scanner: EventScanner | undefined;
  /** Body pieces with their arrival times, if kept. */
  readonly pieces: CapturedPiece[] = [];
  /** Number of the connection, and how many exchanges it carried before. */
  connection = 0;
  earlier = 0;
  /** Requests in flight when it was sent, including itself. */
  inFlight = 0;
  /** Bytes arrived after the end of the message. */
  surplus = false;
  /** It was sent on a connection that the server had closed while idle, and was sent again. */
  stale = false;
  readonly #maxCapture: number;
  readonly #onStamp: OnStamp | undefined;
  /** Time of the current network read; set by the connection. */
  readUs = 0;
  done = false;
  reusable = false;
  /** Why no client can use a complete 2xx reply. */
  defect: ReplyDefect | typeof TOO_LARGE | typeof NOT_DECODED | undefined;
  /** Body of a 2xx reply without a scanner. */
  #body: CollectedBody | undefined;
  #replyTokens: number | undefined;
  #streamedCalls: StreamedCalls | undefined;
  /** The tool calls of a usable reply to a request with tools. */
  toolCalls: ToolCallCounts | undefined;

  constructor(prepared: PreparedRequest, dueUs: number, maxCapture: number, onStamp?: OnStamp) {
    this.prepared = prepared;
    this.dueUs = dueUs;
    this.#maxCapture = maxCapture;
    this.#onStamp = onStamp;
  }

  get retryAfter(): string | undefined {
    return headValue(this.head, RETRY_AFTER);
  }

  /** The requested wait before the next attempt, ms from now; `undefined` without a usable wait. */
  get retryAfterWaitMs(): number | undefined {
    const { retryAfter } = this;
    // Most responses have none: skip parsing their dates.
    if (retryAfter === undefined) return undefined;
    return retryAfterWaitMs(retryAfter, { date: headValue(this.head, DATE), arrivedAtMs: Date.now() });
  }

  headerOf(pattern: RegExp): string | undefined {
    return headValue(this.head, pattern);
  }

  onHead(status: number, head: string): void {
    this.status = status;
    this.head = head;
    this.headUs = this.readUs;
    if (!this.#isServed) return;
    // Coded bodies cannot be scanned as they arrive: they are checked when complete.
    if (!this.prepared.stream || this.#isCoded) return;
    if (this.prepared.tools !== undefined) this.#streamedCalls = new StreamedCalls();
    this.scanner = new EventScanner(this.#onStamp !== undefined, this.#streamedCalls);
  }

  get #coding(): string {
    return headValue(this.head, CODED)?.toLowerCase() ?? "identity";
  }

  get #isCoded(): boolean {
    return this.#coding !== "identity";
  }

  get #isServed(): boolean {
    return this.status >= 200 && this.status < 300;
  }

  onBody(bytes: Buffer, from: number, to: number): void {
    if (this.firstByteUs === 0) this.firstByteUs = this.readUs;
    this.reads++;
    this.bodyBytes += to - from;
    // Error responses are small and always kept: each of them is judged.
    const keep = this.prepared.capture || this.status >= 300;
    if (keep && this.bodyBytes <= this.#maxCapture) this.#capture(bytes, from, to);
    const { scanner } = this;
    if (scanner === undefined) {
      if (this.#isServed) this.#collect(bytes, from, to);
      return;
    }
    if (scanner.isUnread) return;
    const eventsBefore = scanner.events;
    const tokens = scanner.feed(bytes.toString("latin1", from, to));
    if (this.firstEventUs === 0 && scanner.events > eventsBefore) this.firstEventUs = this.readUs;
    if (this.firstTextUs === 0 && scanner.textEvents > 0) this.firstTextUs = this.readUs;
    if (tokens > 0) this.#tokens(tokens);
    if (scanner.stampNs !== undefined && this.#onStamp !== undefined) {
      this.#onStamp(scanner.stampNs, this.readUs, this);
      scanner.stampNs = undefined;
    }
  }

  /** Chunks from the same read form one piece. */
  #capture(bytes: Buffer, from: number, to: number): void {
    const last = this.pieces.at(-1);
    if (last?.atUs === this.readUs) last.append(bytes, from, to);
    else this.pieces.push(new CapturedPiece(this.readUs, bytes.subarray(from, to)));
  }

  #collect(bytes: Buffer, from: number, to: number): void {
    this.#body ??= new CollectedBody();
    if (this.bodyBytes > MAX_CHECKED_BYTES) this.#body.release();
    else this.#body.append(bytes, from, to);
  }

  #tokens(count: number): void {
    let left = count;
    if (this.firstTokenUs === 0) {
      this.firstTokenUs = this.readUs;
      this.lastTokenUs = this.readUs;
      left--;
    }
    for (; left > 0; left--) {
      // Tokens of one read arrived together: the gap before the first is the wait, the others are 0.
      const gapUs = this.readUs - this.lastTokenUs;
      this.lastTokenUs = this.readUs;
      this.gapsUs.push(gapUs);
      if (gapUs > this.longestGapUs) this.longestGapUs = gapUs;
    }
    if (this.gapsUs.length > MAX_GAPS) {
      this.earlierGaps ??= new Histogram();
      for (const gapUs of this.gapsUs) this.earlierGaps.record(gapUs);
      this.gapsUs = [];
    }
  }

  onEnd(reusable: boolean): void {
    this.scanner?.end();
    if (this.#isServed) this.#check(this.scanner === undefined ? this.#decodedBody() : undefined);
    this.#body?.release();
    this.done = true;
    this.reusable = reusable;
  }

  /** Checks a reply that another engine received. @param text its body, not decoded by the engine. */
  checkText(text: string): void {
    if (!this.#isServed) return;
    if (!this.#isCoded) this.#check(this.bodyBytes > MAX_CHECKED_BYTES ? "too large" : { text });
    else this.defect = NOT_DECODED;
  }

  #decodedBody(): DecodedText {
    if (this.bodyBytes > MAX_CHECKED_BYTES) return "too large";
    const text = this.#body?.text() ?? "";
    return this.#isCoded ? decodedText(Buffer.from(text, "latin1"), this.#coding) : { text };
  }

  /**
   * Checks whether a 2xx reply is usable.
   *
   * @param body given for a reply without a scanner: non-streaming, with a content coding, or from another engine.
   */
  #check(body: DecodedText | undefined): void {
    const { scanner, prepared } = this;
    const { dialect, stream, usageRequested = false } = prepared;
    if (scanner !== undefined) this.defect = scanner.isUnread ? TOO_LARGE : scanner.defect(dialect, usageRequested);
    else if (body === undefined || body === "too large") this.defect = TOO_LARGE;
    else if (body === "invalid") this.defect = "a content coding that cannot be decoded";
    else if (hasTooManyValues(body.text)) this.defect = TOO_LARGE;
    else if (prepared.isListing === true) {
      if (!Array.isArray(member(parseJson(body.text), "data"))) this.defect = "JSON without a reply";
    } else {
      const read = stream ? checkStream(dialect, body.text, usageRequested) : checkReply(dialect, body.text);
      this.defect = read.defect;
      this.#replyTokens = read.outputTokens;
      if (read.defect !== undefined && this.pieces.length === 0) this.#captureBody(body.text);
      if (prepared.tools !== undefined && read.defect === undefined)
        this.toolCalls = countInBody(body.text, stream ? undefined : dialect, prepared.tools);
    }
    if (prepared.tools !== undefined && this.#streamedCalls !== undefined && this.defect === undefined)
      this.toolCalls = countStreamed(this.#streamedCalls, prepared.tools);
  }

  /** Keeps a body that was not chosen for capture, because it is the only evidence of a defect. */
  #captureBody(text: string): void {
    // As received: readers of the sample decode it.
    const bytes = Buffer.from(this.#body?.text() ?? text, "latin1");
    if (bytes.length <= this.#maxCapture) this.pieces.push(new CapturedPiece(this.readUs, bytes));
  }

  onBroken(why: string): void {
    this.done = true;
    this.reusable = false;
    this.ending = "protocol-error";
    this.detail = why;
  }

  /** Tokens that the reply reports, otherwise its number of events with output. */
  get outputTokens(): number {
    return this.knownTokens ?? 0;
  }

  /** The same; `undefined` for a non-streaming reply that does not report them. */
  get knownTokens(): number | undefined {
    return this.reportedTokens ?? this.scanner?.contentEvents;
  }

  /** Tokens that the reply itself reports. */
  get reportedTokens(): number | undefined {
    return this.scanner?.usageTokens ?? this.#replyTokens;
  }
}
