import { performance } from "node:perf_hooks";
import { type Dialect, retryAfterWaitMs } from "../../dialects/index.ts";
import type { Exchange } from "../../http-recorder/index.ts";
import { Histogram } from "../../metrics/index.ts";
import { EventScanner } from "./event-scanner.ts";
import { headPattern, headValue } from "./head-fields.ts";
import type { ResponseListener } from "./response-parser.ts";

/** Monotonic, microseconds with fractions; the time base of every mark. */
export const nowUs = (): number => performance.now() * 1_000;

/** Which span a request is, as lower-case hex: 16 and 8 bytes. */
export interface TraceIds {
  readonly traceId: string;
  readonly spanId: string;
}

/** A request that is ready for the wire. */
export interface PreparedRequest {
  readonly dialect: Dialect;
  readonly stream: boolean;
  /** Head and body as they are written. Holds the key: never logged, never kept in a record. */
  readonly bytes: Buffer;
  /** Name of the key in use. */
  readonly key: string;
  /** Keep the body, up to the bound of the sender: for samples and for texts that are judged. */
  readonly capture: boolean;
  /** Read the tokens of a reply that does not stream from its end. */
  readonly countTokens?: boolean;
  /** Ordinal of the turn in its session, from 1. */
  readonly turn?: number | undefined;
  /** Text that the answer of an echoing model must repeat. */
  readonly nonce?: string | undefined;
  /** The span that it is, where one is sent along, and the model that it asks for. */
  readonly trace?: (TraceIds & { readonly model: string }) | undefined;
  /** Body as text, for the record of a sample. */
  readonly body?: string | undefined;
}

/** Where both dialects say how many tokens a reply has: behind its text. */
const USAGE = /"(?:completion_tokens|output_tokens)"\s*:\s*(\d{1,8})(?!.*"(?:completion_tokens|output_tokens)")/s;
const USAGE_TAIL = 2_048;

/** Called with the stamp of the last event of a read, and the moment of the read. For calibration. */
export type OnStamp = (stampNs: number, readUs: number, exchange: LoadExchange) => void;

export type Ending = Exchange["ending"]["kind"];

const RETRY_AFTER = headPattern("retry-after");
const DATE = headPattern("date");
const CODED = headPattern("content-encoding");
/** Gaps that a stream keeps one by one until it is known what becomes of it; more are counted in a histogram. */
const MOST_GAPS = 4_096;

/**
 * One request on its connection: marks, counters, and no bytes unless it is to be kept. It is the mutable state of a socket, and
 * hundreds of thousands of them are counted without another object; judges get an `Observation` made of it. 0 is "not yet".
 */
export class LoadExchange implements ResponseListener {
  readonly prepared: PreparedRequest;
  readonly dueUs: number;
  /** When writing began; 0 before. */
  sentUs = 0;
  /** Time that the request waited for a connection of its own to open, µs; 0 on an open one. */
  connectUs = 0;
  headUs = 0;
  /** First byte of the body. */
  firstByteUs = 0;
  firstEventUs = 0;
  firstTokenUs = 0;
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
  /** Gaps before those of `gapsUs`, of a stream with very many. */
  earlierGaps: Histogram | undefined;
  scanner: EventScanner | undefined;
  /** Body pieces with their moments, when kept. */
  readonly pieces: { readonly atUs: number; readonly bytes: Buffer }[] = [];
  /** Ordinal of the connection, and how many exchanges it carried before. */
  connection = 0;
  earlier = 0;
  /** In flight when it was sent, itself included. */
  inFlight = 0;
  /** Bytes came after the message. */
  surplus = false;
  /** It met a connection that the server had closed while idle, and was sent again. */
  stale = false;
  readonly #maxCapture: number;
  readonly #onStamp: OnStamp | undefined;
  /** Moment of the network read under way; set by the connection. */
  readUs = 0;
  done = false;
  reusable = false;
  /** End of the body, where tokens are read from it. */
  #tail = "";

  constructor(prepared: PreparedRequest, dueUs: number, maxCapture: number, onStamp?: OnStamp) {
    this.prepared = prepared;
    this.dueUs = dueUs;
    this.#maxCapture = maxCapture;
    this.#onStamp = onStamp;
  }

  get retryAfter(): string | undefined {
    return headValue(this.head, RETRY_AFTER);
  }

  /** How long it asks to wait before the next attempt, ms from now; `undefined`: it gives no usable wait. */
  get retryAfterWaitMs(): number | undefined {
    const { retryAfter } = this;
    // Most answers have none: their dates need not be looked for.
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
    // Coded bodies cannot be scanned as they come; their events count when the answer is kept and decoded.
    const coding = headValue(head, CODED);
    if (this.prepared.stream && status < 300 && (coding === undefined || coding === "identity"))
      this.scanner = new EventScanner(this.#onStamp !== undefined);
  }

  onBody(bytes: Buffer, from: number, to: number): void {
    if (this.firstByteUs === 0) this.firstByteUs = this.readUs;
    this.reads++;
    this.bodyBytes += to - from;
    // Refusals are small and always kept: each of them is judged.
    const keep = this.prepared.capture || this.status >= 300;
    if (keep && this.bodyBytes <= this.#maxCapture)
      this.pieces.push({ atUs: this.readUs, bytes: Buffer.from(bytes.subarray(from, to)) });
    const { scanner } = this;
    if (scanner === undefined) {
      if (this.prepared.countTokens === true && !this.prepared.stream)
        this.#tail = (this.#tail + bytes.toString("latin1", from, to)).slice(-USAGE_TAIL);
      return;
    }
    const eventsBefore = scanner.events;
    const tokens = scanner.feed(bytes.toString("latin1", from, to));
    if (this.firstEventUs === 0 && scanner.events > eventsBefore) this.firstEventUs = this.readUs;
    if (tokens > 0) this.#tokens(tokens);
    if (scanner.stampNs !== undefined && this.#onStamp !== undefined) {
      this.#onStamp(scanner.stampNs, this.readUs, this);
      scanner.stampNs = undefined;
    }
  }

  #tokens(count: number): void {
    let left = count;
    if (this.firstTokenUs === 0) {
      this.firstTokenUs = this.readUs;
      this.lastTokenUs = this.readUs;
      left--;
    }
    for (; left > 0; left--) {
      // Tokens of one read came together: the gap before the first of them is the wait, the others are 0.
      const gapUs = this.readUs - this.lastTokenUs;
      this.lastTokenUs = this.readUs;
      this.gapsUs.push(gapUs);
      if (gapUs > this.longestGapUs) this.longestGapUs = gapUs;
    }
    if (this.gapsUs.length > MOST_GAPS) {
      this.earlierGaps ??= new Histogram();
      for (const gapUs of this.gapsUs) this.earlierGaps.record(gapUs);
      this.gapsUs = [];
    }
  }

  onEnd(reusable: boolean): void {
    this.scanner?.end();
    this.done = true;
    this.reusable = reusable;
  }

  onBroken(why: string): void {
    this.done = true;
    this.reusable = false;
    this.ending = "protocol-error";
    this.detail = why;
  }

  /** Tokens that the answer says it holds, or the content events that were counted. */
  get outputTokens(): number {
    return this.scanner?.usageTokens ?? this.scanner?.contentEvents ?? 0;
  }

  /** The same, of replies that do not stream too, where they are to be counted; `undefined` for one that says nothing of tokens. */
  get knownTokens(): number | undefined {
    if (this.scanner !== undefined) return this.outputTokens;
    const tokens = USAGE.exec(this.#tail)?.[1];
    return tokens === undefined ? undefined : Number(tokens);
  }
}
