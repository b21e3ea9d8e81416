import type { Socket } from "node:net";
import { Http2Connection, type Http2Stream } from "./http2-connection.ts";
import { InFlightGauge } from "./in-flight-gauge.ts";
import { LoadExchange, nowUs, type PreparedRequest } from "./load-exchange.ts";
import { type OnEnd, overdue, type RequestSender, type SenderOptions, SWEEP_MS } from "./request-sender.ts";

/** Connections opened side by side. */
const OPEN_AT_ONCE = 16;

/**
 * Sends requests as streams of a few HTTP/2 connections. Each carries at most so many streams as its server allows, and
 * never more than 100; a new request goes to the connection with the fewest. Nothing is retried, except once what the
 * server says it has not looked at (RFC 9113, 8.7).
 */
export class Http2Sender implements RequestSender {
  readonly #options: SenderOptions;
  readonly #url: URL;
  readonly #connections = new Set<Http2Connection>();
  readonly #streams = new Map<Http2Stream, OnEnd>();
  readonly #gauge: InFlightGauge;
  readonly #sweeper: NodeJS.Timeout;
  #socket: Socket | undefined;
  /** Requests that wait for a connection, and the one connection that they wait for. */
  #waiting: (() => void)[] = [];
  #connecting: Promise<void> | undefined;
  #closed = false;
  #ordinal = 0;
  opened = 0;
  waits = 0;
  peakInFlight = 0;
  lastFailure: string | undefined;

  /** @param socket a connection that has just agreed on HTTP/2, to begin with. */
  constructor(options: SenderOptions, socket?: Socket) {
    this.#options = options;
    this.#url = new URL(options.url);
    this.#gauge = options.gauge ?? new InFlightGauge();
    this.#socket = socket;
    this.#sweeper = setInterval(() => this.#sweep(), SWEEP_MS);
    this.#sweeper.unref();
  }

  get inFlight(): number {
    return this.#streams.size;
  }

  async open(count: number): Promise<number> {
    const wanted = Math.min(count, this.#options.maxConnections);
    while (!this.#closed && this.#room() + this.#streams.size < wanted) {
      const before = this.#connections.size;
      // The first one tells how many streams each may carry.
      const missing = before === 0 ? 1 : Math.ceil((wanted - this.#room() - this.#streams.size) / this.#each());
      await Promise.all(Array.from({ length: Math.min(missing, OPEN_AT_ONCE) }, () => this.#connect()));
      if (this.#connections.size === before) break;
    }
    return this.#room() + this.#streams.size;
  }

  send(prepared: PreparedRequest, dueUs: number, onEnd: OnEnd): boolean {
    if (this.#closed || this.#streams.size + this.#waiting.length >= this.#options.maxConnections) return false;
    this.#send(this.#exchange(prepared, dueUs), onEnd);
    return true;
  }

  abortAll(): void {
    for (const stream of [...this.#streams.keys()]) stream.leave("aborted");
  }

  underWay(prepared: PreparedRequest): LoadExchange | undefined {
    for (const { exchange } of this.#streams.keys()) if (exchange.prepared === prepared) return exchange;
    return undefined;
  }

  abort(exchange: LoadExchange): void {
    [...this.#streams.keys()].find((stream) => stream.exchange === exchange)?.leave("aborted");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true;
    clearInterval(this.#sweeper);
    this.abortAll();
    for (const connection of this.#connections) connection.destroy();
    this.#socket?.destroy();
  }

  #exchange(prepared: PreparedRequest, dueUs: number): LoadExchange {
    const { maxCaptureBytes = 256 * 1024, onStamp } = this.#options;
    return new LoadExchange(prepared, dueUs, maxCaptureBytes, onStamp);
  }

  /** Streams that one more connection is likely to carry. */
  #each(): number {
    return Math.max(1, ...[...this.#connections].map(({ bound }) => bound));
  }

  /** Streams that could be begun now. */
  #room(): number {
    return [...this.#connections].reduce((sum, { room }) => sum + room, 0);
  }

  #send(exchange: LoadExchange, onEnd: OnEnd): void {
    const connection = this.#emptiest();
    if (connection !== undefined) {
      this.#start(connection, exchange, onEnd);
      return;
    }
    this.waits++;
    const startUs = nowUs();
    this.#waiting.push(() => {
      const found = this.#emptiest();
      if (found === undefined) {
        exchange.ending = this.#closed ? "aborted" : "unreachable";
        exchange.detail = this.lastFailure ?? "";
        exchange.endUs = nowUs();
        onEnd(exchange);
        return;
      }
      this.#start(found, exchange, onEnd);
      // The service begins when the client wants to send: a handshake that it has to wait for is part of it.
      exchange.connectUs = exchange.sentUs - startUs;
      exchange.sentUs = startUs;
    });
    this.#connecting ??= this.#connectForWaiting();
  }

  async #connectForWaiting(): Promise<void> {
    const wanted = Math.ceil(this.#waiting.length / this.#each());
    await Promise.all(Array.from({ length: Math.min(wanted, OPEN_AT_ONCE) }, () => this.#connect()));
    this.#connecting = undefined;
    // Without a connection none of them can be sent, and each says so.
    const count = this.#room() === 0 ? this.#waiting.length : this.#room();
    const served = this.#waiting.slice(0, count);
    this.#waiting = this.#waiting.slice(count);
    for (const go of served) go();
    if (this.#waiting.length > 0) this.#connecting ??= this.#connectForWaiting();
  }

  #emptiest(): Http2Connection | undefined {
    let found: Http2Connection | undefined;
    for (const connection of this.#connections) {
      if (connection.room > 0 && (found === undefined || connection.active < found.active)) found = connection;
    }
    return found;
  }

  #start(connection: Http2Connection, exchange: LoadExchange, onEnd: OnEnd): void {
    exchange.inFlight = this.#gauge.enter();
    this.peakInFlight = Math.max(this.peakInFlight, exchange.inFlight);
    const stream = connection.send(exchange, (ended) => this.#ended(ended, connection));
    this.#streams.set(stream, onEnd);
  }

  #ended(stream: Http2Stream, connection: Http2Connection): void {
    const onEnd = this.#streams.get(stream);
    if (onEnd === undefined) return;
    this.#streams.delete(stream);
    this.#gauge.leave();
    const { exchange, refused } = stream;
    if (refused && !exchange.stale && connection.leaving && !this.#closed) {
      const again = this.#exchange(exchange.prepared, exchange.dueUs);
      again.stale = true;
      this.#send(again, onEnd);
      return;
    }
    onEnd(exchange);
  }

  async #connect(): Promise<void> {
    const connection = new Http2Connection(++this.#ordinal, (gone) => this.#connections.delete(gone));
    const socket = this.#socket;
    this.#socket = undefined;
    const failure = await connection.open(this.#url, socket);
    if (failure !== undefined) this.lastFailure = failure;
    else if (this.#closed) connection.destroy();
    else {
      this.opened++;
      this.#connections.add(connection);
    }
  }

  #sweep(): void {
    const now = nowUs();
    for (const stream of [...this.#streams.keys()]) {
      const why = overdue(stream.exchange, now, this.#options);
      if (why !== undefined) stream.leave(why);
    }
  }
}
