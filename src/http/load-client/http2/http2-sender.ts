import type { Socket } from "node:net";
import { CarrierSender } from "../carrier-sender.ts";
import { type LoadExchange, nowUs, type PreparedRequest } from "../load-exchange.ts";
import type { OnEnd, SenderOptions } from "../request-sender.ts";
import { Http2Connection, type Http2Stream } from "./http2-connection.ts";

/** Connections that are opened concurrently. */
const OPEN_AT_ONCE = 16;

/**
 * Sends requests as streams of a few HTTP/2 connections. Each carries at most as many streams as its server allows, and never
 * more than 100; a new request goes to the connection with the fewest. Nothing is retried, except once for requests that the
 * server reports as not processed (RFC 9113, 8.7).
 */
export class Http2Sender extends CarrierSender<Http2Stream> {
  readonly #connections = new Set<Http2Connection>();
  #socket: Socket | undefined;
  /** Requests that wait for a connection, and the connection that they wait for. */
  #waiting: (() => void)[] = [];
  #connecting: Promise<void> | undefined;

  /** @param socket a connection that has just negotiated HTTP/2, used first. */
  constructor(options: SenderOptions, socket?: Socket) {
    super(options);
    this.#socket = socket;
  }

  async open(count: number): Promise<number> {
    const target = Math.min(count, this.options.maxConnections);
    while (!this.closed && this.#room() + this.busy.size < target) {
      const before = this.#connections.size;
      // The first connection shows how many streams each may carry.
      const missing = before === 0 ? 1 : Math.ceil((target - this.#room() - this.busy.size) / this.#each());
      await Promise.all(Array.from({ length: Math.min(missing, OPEN_AT_ONCE) }, () => this.#connect()));
      if (this.#connections.size === before) break;
    }
    return this.#room() + this.busy.size;
  }

  send(prepared: PreparedRequest, dueUs: number, onEnd: OnEnd): boolean {
    if (this.closed || this.busy.size + this.#waiting.length >= this.options.maxConnections) return false;
    this.#send(this.exchangeOf(prepared, dueUs), onEnd);
    return true;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.close();
    for (const connection of this.#connections) connection.destroy();
    this.#socket?.destroy();
  }

  /** Expected number of streams on another connection. */
  #each(): number {
    return Math.max(1, ...[...this.#connections].map(({ bound }) => bound));
  }

  /** Number of streams that can be started now. */
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
        exchange.ending = this.closed ? "aborted" : "unreachable";
        exchange.detail = this.lastFailure ?? "";
        exchange.endUs = nowUs();
        onEnd(exchange);
        return;
      }
      this.#start(found, exchange, onEnd);
      // The response time starts when the client wants to send: it includes a handshake that the request has to wait for.
      exchange.connectUs = exchange.sentUs - startUs;
      exchange.sentUs = startUs;
    });
    this.#connecting ??= this.#connectForWaiting();
  }

  async #connectForWaiting(): Promise<void> {
    const needed = Math.ceil(this.#waiting.length / this.#each());
    await Promise.all(Array.from({ length: Math.min(needed, OPEN_AT_ONCE) }, () => this.#connect()));
    this.#connecting = undefined;
    // Without a connection, none of them can be sent, and each one reports that.
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
    this.countIn(exchange);
    const stream = connection.send(exchange, (ended) => this.#ended(ended, connection));
    this.busy.set(stream, onEnd);
  }

  #ended(stream: Http2Stream, connection: Http2Connection): void {
    const onEnd = this.countOut(stream);
    if (onEnd === undefined) return;
    const { exchange, refused } = stream;
    if (refused && !exchange.stale && connection.leaving && !this.closed) {
      const again = this.exchangeOf(exchange.prepared, exchange.dueUs);
      again.stale = true;
      this.#send(again, onEnd);
      return;
    }
    onEnd(exchange);
  }

  async #connect(): Promise<void> {
    const connection = new Http2Connection(++this.connectionCounter.connections, (gone) =>
      this.#connections.delete(gone),
    );
    const socket = this.#socket;
    this.#socket = undefined;
    const failure = await connection.open(this.url, socket);
    if (failure !== undefined) this.lastFailure = failure;
    else if (this.closed) connection.destroy();
    else {
      this.opened++;
      this.#connections.add(connection);
    }
  }
}
