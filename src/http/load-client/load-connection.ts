import { connect as connectTcp, type Socket } from "node:net";
import { outliveWriteErrors, type WriteFailure } from "../../core/index.ts";
import { type Ending, type LoadExchange, nowUs } from "./load-exchange.ts";
import { ResponseParser } from "./response-parser.ts";
import { tlsSocket } from "./tls-socket.ts";

export interface ConnectionEvents {
  /** The exchange has ended, in whatever way. */
  onExchange(exchange: LoadExchange, connection: LoadConnection): void;
  /** The socket was closed while no exchange was running. */
  onIdleClose(connection: LoadConnection): void;
}

/**
 * One buffer for the reads of all connections: data is parsed before the next read starts, so nothing is allocated per read. At
 * 500 streams, this halves the work of the garbage collector.
 */
const READ_BUFFER_BYTES = 64 * 1024;

export type ReadBuffer = Buffer;
export const makeReadBuffer = (): ReadBuffer => Buffer.allocUnsafeSlow(READ_BUFFER_BYTES);

/** Handshake, ms. */
const CONNECT_MS = 10_000;

/** One HTTP/1.1 connection, one exchange at a time. */
export class LoadConnection {
  readonly ordinal: number;
  carried = 0;
  idleSinceUs = 0;
  /** When the connection became idle before the current exchange, on the clock of `nowUs`. */
  idleBeforeSendUs = 0;
  #socket: Socket | undefined;
  #writeFailure: WriteFailure = { error: undefined };
  #exchange: LoadExchange | undefined;
  readonly #events: ConnectionEvents;
  readonly #parser: ResponseParser;

  constructor(ordinal: number, events: ConnectionEvents) {
    this.ordinal = ordinal;
    this.#events = events;
    this.#parser = new ResponseParser({
      onHead: (status, head) => this.#exchange?.onHead(status, head),
      onBody: (bytes, from, to) => this.#exchange?.onBody(bytes, from, to),
      onEnd: (reusable) => this.#exchange?.onEnd(reusable),
      onBroken: (why) => this.#exchange?.onBroken(why),
    });
  }

  /** @returns why it failed, or `undefined` if the connection is open. Never throws. */
  open(url: URL, buffer: ReadBuffer): Promise<string | undefined> {
    return new Promise((resolve) => {
      const secure = url.protocol === "https:";
      const host = url.hostname.replace(/^\[|\]$/g, "");
      const port = Number(url.port) || 80;
      const onread = { buffer, callback: (count: number) => this.#read(buffer, count) };
      const socket = secure ? tlsSocket(url, ["http/1.1"]) : connectTcp({ host, port, noDelay: true, onread });
      this.#socket = socket;
      this.#writeFailure = outliveWriteErrors(socket);
      if (secure) {
        socket.setNoDelay(true);
        socket.on("data", (bytes: Buffer) => this.#read(bytes, bytes.length));
      }
      const settle = (why?: string) => {
        clearTimeout(deadline);
        this.idleSinceUs = nowUs();
        resolve(why);
      };
      const deadline = setTimeout(() => {
        socket.destroy();
        settle("connecting took longer than 10 s");
      }, CONNECT_MS);
      socket.once(secure ? "secureConnect" : "connect", () => settle());
      let error: Error | undefined;
      socket.on("error", (thrown: Error) => {
        error = thrown instanceof AggregateError ? (thrown.errors[0] as Error) : thrown;
        settle(error.message);
      });
      socket.on("end", () => this.#gone("the connection ended"));
      socket.on("close", () => this.#gone(error?.message ?? "the connection was closed"));
    });
  }

  get alive(): boolean {
    return this.#socket?.readyState === "open";
  }

  get exchange(): LoadExchange | undefined {
    return this.#exchange;
  }

  send(exchange: LoadExchange): void {
    exchange.connection = this.ordinal;
    exchange.earlier = this.carried;
    this.#exchange = exchange;
    this.idleBeforeSendUs = this.idleSinceUs;
    this.#parser.start();
    exchange.sentUs = nowUs();
    this.#socket?.write(exchange.prepared.bytes);
  }

  /** Whether part of the request is unsent: the gateway responded before it had read all of it. */
  get #isUnsent(): boolean {
    return this.#writeFailure.error !== undefined || (this.#socket?.writableLength ?? 0) > 0;
  }

  /** Aborts the current exchange by closing the connection. */
  leave(ending: Ending): void {
    const exchange = this.#exchange;
    this.#parser.reset();
    if (exchange === undefined) {
      this.destroy();
      return;
    }
    exchange.ending = ending;
    this.#finish(exchange, false);
  }

  destroy(): void {
    this.#socket?.destroy();
  }

  #read(bytes: Buffer, count: number): boolean {
    const exchange = this.#exchange;
    if (exchange === undefined) {
      // Unsolicited bytes: the connection can no longer be trusted.
      this.destroy();
      return true;
    }
    exchange.readUs = nowUs();
    const surplus = this.#parser.feed(bytes, 0, count);
    if (!exchange.done) return true;
    exchange.surplus = surplus > 0;
    this.#finish(exchange, exchange.reusable && surplus === 0 && !this.#isUnsent);
    return true;
  }

  #gone(why: string): void {
    const exchange = this.#exchange;
    this.#socket?.destroy();
    if (exchange === undefined) {
      this.#events.onIdleClose(this);
      return;
    }
    exchange.readUs = nowUs();
    if (!this.#parser.close()) {
      this.#parser.reset();
      exchange.ending = exchange.sentUs === 0 ? "unreachable" : "reset";
      exchange.detail = this.#writeFailure.error?.message ?? why;
    }
    this.#finish(exchange, false);
  }

  #finish(exchange: LoadExchange, reusable: boolean): void {
    this.#exchange = undefined;
    this.carried++;
    exchange.endUs = nowUs();
    this.idleSinceUs = exchange.endUs;
    exchange.reusable = reusable;
    if (!reusable) this.destroy();
    this.#events.onExchange(exchange, this);
  }
}
