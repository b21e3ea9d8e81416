import type { Dispatcher } from "undici";
import type { Clock } from "../../core/index.ts";
import { type HeaderList, header } from "../../dialects/index.ts";
import type { Connection, WireListener } from "./connection.ts";
import { beginningOf, decodeBody } from "./decode-body.ts";
import { endingOf, isCut, isParserError, OwnAbort } from "./ending-of.ts";
import type { Bounds, Ending, EndingKind, Exchange, RecordedRequest, RecordedResponse } from "./exchange.ts";
import { MAX_INTERIM, MAX_INTERIM_BYTES } from "./interim-filter.ts";
import type { OwnLag } from "./own-lag.ts";
import { PieceList } from "./piece-list.ts";
import { pairs } from "./raw-fields.ts";
import type { Redactor } from "./redaction/redact.ts";
import { redactExchange } from "./redaction/redact-exchange.ts";
import { type FilledBody, sentBody } from "./sent-body.ts";

/**
 * Maximum bytes outside the body between two pieces of it: trailers and chunk extensions, which nothing needs and whose number
 * parsers do not limit. Node allows as much for a head.
 */
const MAX_FRAMING_BYTES = 16 * 1024;
/** Maximum number of pieces read per response, twenty times that of long replies: 4 MiB in single bytes take seconds to parse. */
const MAX_READS = 100_000;
/**
 * How much is kept of a body that exceeds its bound, bytes: enough to recognise it, and little compared with the bodies of a run.
 */
const KEPT_OF_TOO_LARGE_BYTES = 256 * 1024;
const FRAMING_DETAIL = "more than 16 KiB of trailers or chunk extensions";

/** A request as it is put on the wire. */
export interface OutgoingRequest {
  readonly method: string;
  /** Absolute URL. */
  readonly url: string;
  /** In order and letter case as sent; `Host` and `Content-Length` are added. */
  readonly headers: HeaderList;
  /** Text is sent as UTF-8. */
  readonly body?: string | Uint8Array | FilledBody | undefined;
  /** Number of pieces to send with chunked framing and no length; default: in one piece, with its length. */
  readonly pieces?: number | undefined;
  /** Name of the key in use, for the recording. */
  readonly key?: string | undefined;
  /** When it was scheduled to be sent, µs from the recorder's origin; default: now. */
  readonly dueUs?: number | undefined;
}

export interface LiveOptions {
  readonly id: string;
  readonly bounds: Bounds;
  readonly clock: Clock;
  /** Monotonic origin of the run, µs. */
  readonly originUs: number;
  readonly redactor: Redactor;
  readonly ownLag: OwnLag;
}

/** A running exchange: undici's handler on one side, facts and an abort on the other. */
export class LiveExchange implements Dispatcher.DispatchHandler, WireListener {
  /** Resolves when the head of the final response has arrived, or the exchange ended without one. */
  readonly headed: Promise<number | undefined>;
  /** Resolves when the first byte of the body has arrived, or the exchange ended without one. */
  readonly started: Promise<boolean>;
  /** Resolves with the redacted record. Never rejects. */
  readonly done: Promise<Exchange>;

  readonly #request: OutgoingRequest;
  readonly #options: LiveOptions;
  readonly #connection: Connection;
  readonly #startedAtMs: number;
  readonly #dueUs: number;
  #identity = { id: "none", earlier: 0 };
  #sentUs: number | undefined;
  #firstByteUs: number | undefined;
  #headersUs: number | undefined;
  #status = 0;
  #headers: HeaderList = [];
  #trailers: HeaderList = [];
  readonly #interim: number[] = [];
  /** Size of the fields of all interim responses so far, bytes. */
  #interimBytes = 0;
  readonly #pieces: PieceList;
  #receivedBytes = 0;
  /** Bytes after the head when the last piece of the body arrived. */
  #framedBytes = 0;
  #afterwards: string | undefined;
  #ended = false;
  #isComplete = false;
  #controller: Dispatcher.DispatchController | undefined;
  #abortReason: OwnAbort | undefined;
  readonly #timers: { [kind in "deadline" | "idle-timeout"]?: NodeJS.Timeout } = {};
  #lastUs = 0;
  #resolveHeaded!: (status: number | undefined) => void;
  #resolveStarted!: (started: boolean) => void;
  #resolveDone!: (exchange: Exchange) => void;

  constructor(request: OutgoingRequest, connection: Connection, options: LiveOptions) {
    this.#request = request;
    this.#connection = connection;
    this.#options = options;
    this.#pieces = new PieceList(options.bounds.maxPieces);
    this.#startedAtMs = options.clock.nowMs();
    this.#dueUs = request.dueUs ?? this.#now();
    this.headed = new Promise((resolve) => {
      this.#resolveHeaded = resolve;
    });
    this.started = new Promise((resolve) => {
      this.#resolveStarted = resolve;
    });
    this.done = new Promise((resolve) => {
      this.#resolveDone = resolve;
    });
    const startUs = this.#now();
    this.#endAfter("deadline", options.bounds.deadlineMs, () => startUs);
  }

  /** When the last part of the body arrived, µs on the clock of the recorder; 0 if none has. */
  get lastByteUs(): number {
    return this.#lastUs;
  }

  /** Aborts like a client that stops waiting: the connection is closed on the gateway. */
  abort(): void {
    this.#leave("aborted");
  }

  /** Stops reading the response, like a busy client; only an abort ends this. */
  pause(): void {
    this.#controller?.pause();
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    this.#connection.start(this);
    this.#identity = this.#connection.identity;
    this.#sentUs = this.#now();
    if (this.#abortReason !== undefined) controller.abort(this.#abortReason);
  }

  onFirstByte(): void {
    this.#firstByteUs = this.#now();
  }

  onMoreBytes(afterHead: number): void {
    if (afterHead - this.#framedBytes > MAX_FRAMING_BYTES) this.#leave("protocol-error", FRAMING_DETAIL);
  }

  onTooLargeHead(detail: string): void {
    this.#leave("size-bound", detail);
  }

  onResponseStart(controller: Dispatcher.DispatchController, status: number): void {
    if (status < 200) {
      this.#interim.push(status);
      for (const [name, value] of pairs(controller.rawHeaders)) this.#interimBytes += name.length + value.length;
      if (this.#interim.length >= MAX_INTERIM || this.#interimBytes > MAX_INTERIM_BYTES) this.#leave("size-bound");
      return;
    }
    this.#headersUs = this.#now();
    this.#status = status;
    this.#headers = pairs(controller.rawHeaders);
    this.#resolveHeaded(status);
    this.#lastUs = this.#headersUs;
    this.#endAfter("idle-timeout", this.#options.bounds.idleMs, () => this.#lastUs);
  }

  onResponseData(_controller: Dispatcher.DispatchController, bytes: Buffer): void {
    if (this.#receivedBytes === 0) this.#resolveStarted(true);
    this.#receivedBytes += bytes.length;
    this.#framedBytes = this.#connection.bytesAfterHead ?? 0;
    this.#lastUs = this.#now();
    this.#pieces.add(this.#lastUs, bytes);
    if (this.#receivedBytes > this.#options.bounds.maxBodyBytes) this.#leave("size-bound");
    else if (this.#pieces.reads >= MAX_READS) this.#leave("size-bound", `${MAX_READS} pieces`);
    else this.#timers["idle-timeout"]?.refresh();
  }

  onResponseEnd(controller: Dispatcher.DispatchController): void {
    this.#trailers = pairs(controller.rawTrailers);
    this.#end({ kind: "complete" });
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    const cause = isParserError(error) && !isCut(error) ? error : (this.#connection.writeError ?? error);
    const unreadHead = this.#status === 0 && this.#firstByteUs !== undefined ? this.#connection.head : undefined;
    this.#end(endingOf(this.#abortReason ?? cause, { sent: this.#sentUs !== undefined, unreadHead }));
  }

  onBreak(error: Error): void {
    // The gateway may simply close after the response; a parser error is about bytes that the gateway sent.
    if (this.#isComplete && isParserError(error) && !isCut(error)) this.#afterwards ??= error.message;
  }

  #now(): number {
    return this.#options.clock.monotonicUs() - this.#options.originUs;
  }

  /**
   * Ends the exchange `boundMs` after `sinceUs()`, which may advance meanwhile. Stalls of this process do not count: data that
   * arrived meanwhile waits to be read, and timers fire first.
   */
  #endAfter(kind: "deadline" | "idle-timeout", boundMs: number, sinceUs: () => number): void {
    const { ownLag, originUs } = this.#options;
    const check = () => {
      const [fromUs, nowUs] = [sinceUs(), this.#now()];
      const leftMs = boundMs + ownLag.lostWithin(originUs + fromUs, originUs + nowUs) - (nowUs - fromUs) / 1_000;
      if (leftMs > 0) this.#timers[kind] = setTimeout(check, leftMs);
      else this.#leave(kind);
    };
    this.#timers[kind] = setTimeout(check, boundMs);
  }

  #leave(kind: EndingKind, detail?: string): void {
    if (this.#ended || this.#abortReason !== undefined) return;
    const ending = { kind, ...(detail === undefined ? {} : { detail }) };
    this.#abortReason = new OwnAbort(ending);
    if (this.#controller === undefined) {
      // Still connecting: undici calls no handler before the connection is established.
      this.#end(ending);
      void this.#connection.destroy();
    } else {
      this.#controller.abort(this.#abortReason);
    }
  }

  #end(ending: Ending): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#isComplete = ending.kind === "complete";
    const bodiless = this.#request.method === "HEAD" || this.#status === 204 || this.#status === 304;
    const surplus = bodiless ? (this.#connection.bytesAfterHead ?? 0) : 0;
    if (surplus > 0) this.#afterwards = `${surplus} bytes of body in a response that must not have one`;
    const endUs = this.#now();
    for (const timer of Object.values(this.#timers)) clearTimeout(timer);
    this.#connection.finish();
    this.#resolveHeaded(this.#status === 0 ? undefined : this.#status);
    this.#resolveStarted(false);
    // Bytes beyond the message are parsed in the event-loop turn of its end, and the close of the connection reports them in that
    // turn's last phase, after the first immediate: two turns later the error has been reported.
    setImmediate(() => {
      setImmediate(() => void this.#record(ending, endUs).then(this.#resolveDone));
    });
  }

  async #record(ending: Ending, endUs: number): Promise<Exchange> {
    const { bounds, redactor, id, ownLag, originUs } = this.#options;
    const ownLagMs = ownLag.within(originUs + (this.#sentUs ?? this.#dueUs), originUs + endUs);
    const encoding = header(this.#headers, "content-encoding");
    const whole = await decodeBody(this.#pieces.close(), encoding, bounds.maxBodyBytes, ending.kind === "complete");
    const isOverBound = whole.overBound || ending.kind === "size-bound";
    const decodedBytes = whole.pieces.reduce((sum, { bytes }) => sum + bytes.length, 0);
    const body = isOverBound ? { ...whole, pieces: beginningOf(whole.pieces, KEPT_OF_TOO_LARGE_BYTES) } : whole;
    this.#connection.forget(this);
    const response: Omit<RecordedResponse, "body"> | undefined =
      this.#status === 0
        ? undefined
        : {
            status: this.#status,
            headers: this.#headers,
            interim: [...Array<number>(this.#connection.continues).fill(100), ...this.#interim],
            trailers: this.#trailers,
          };
    return redactExchange(redactor, {
      id,
      startedAtMs: this.#startedAtMs,
      request: recordedRequest(this.#request),
      key: this.#request.key,
      connection: this.#identity,
      timeline: {
        dueUs: this.#dueUs,
        sentUs: this.#sentUs,
        firstByteUs: this.#firstByteUs,
        headersUs: this.#headersUs,
        endUs,
      },
      response,
      body,
      decodedBytes,
      receivedBytes: this.#receivedBytes,
      reads: this.#pieces.reads,
      ending: whole.overBound ? { kind: "size-bound" } : ending,
      ownLagMs,
      afterwards: this.#afterwards,
    });
  }
}

function recordedRequest({ method, url, headers, body }: OutgoingRequest): RecordedRequest {
  return { method, url, headers, ...sentBody(body) };
}
