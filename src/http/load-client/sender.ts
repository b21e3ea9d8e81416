import type { TLSSocket } from "node:tls";
import { InternalError } from "../../core/index.ts";
import { Http1Sender } from "./http1-sender.ts";
import type { LoadExchange, PreparedRequest } from "./load-exchange.ts";
import type { OnEnd, RequestSender, SenderOptions } from "./request-sender.ts";
import { tlsSocket } from "./tls-socket.ts";

/** HTTP version: 1 or 2 regardless of what is offered, or the result of the TLS handshake. */
export type HttpChoice = 1 | 2 | "offered";

/** Handshake, ms. */
const CONNECT_MS = 10_000;

/**
 * Sends requests over persistent connections: HTTP/1.1 with one exchange on each at a time, or HTTP/2 if the target chooses it in
 * the TLS handshake (RFC 9113, 3.2) or is declared to support it. Deadlines, sizes and idle times are bounded.
 */
export class Sender implements RequestSender {
  readonly #options: SenderOptions;
  readonly #choice: HttpChoice;
  #inner: RequestSender | undefined;
  /** The protocol in use; `undefined` until `open` has negotiated it. */
  protocol: "HTTP/1.1" | "HTTP/2" | undefined;

  constructor(options: SenderOptions & { readonly http?: HttpChoice | undefined }) {
    const { http = 1 } = options;
    this.#options = options;
    this.#choice = http;
    const isPlain = new URL(options.url).protocol === "http:";
    if (http === 1 || (http === "offered" && isPlain)) {
      this.#inner = new Http1Sender(options);
      this.protocol = "HTTP/1.1";
    }
  }

  get inFlight(): number {
    return this.#inner?.inFlight ?? 0;
  }
  get opened(): number {
    return this.#inner?.opened ?? 0;
  }
  get waits(): number {
    return this.#inner?.waits ?? 0;
  }
  get peakInFlight(): number {
    return this.#inner?.peakInFlight ?? 0;
  }
  get lastFailure(): string | undefined {
    return this.#inner?.lastFailure;
  }

  async open(count: number): Promise<number> {
    this.#inner ??= await this.#choose();
    return this.#inner.open(count);
  }

  send(prepared: PreparedRequest, dueUs: number, onEnd: OnEnd): boolean {
    if (this.#inner === undefined) throw new InternalError("nothing is sent before connections are opened");
    return this.#inner.send(prepared, dueUs, onEnd);
  }

  abortAll(): void {
    this.#inner?.abortAll();
  }

  underWay(prepared: PreparedRequest): LoadExchange | undefined {
    return this.#inner?.underWay(prepared);
  }

  abort(exchange: LoadExchange): void {
    this.#inner?.abort(exchange);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#inner?.[Symbol.asyncDispose]();
  }

  async #choose(): Promise<RequestSender> {
    const url = new URL(this.#options.url);
    const socket = url.protocol === "https:" ? await negotiate(url, this.#choice) : undefined;
    if (this.#choice === 2 || socket?.alpnProtocol === "h2") {
      this.protocol = "HTTP/2";
      // Loaded on demand: it takes a while, and most load runs do not need it.
      const { Http2Sender } = await import("./http2/http2-sender.ts");
      return new Http2Sender(this.#options, socket?.alpnProtocol === "h2" ? socket : undefined);
    }
    socket?.destroy();
    this.protocol = "HTTP/1.1";
    return new Http1Sender(this.#options);
  }
}

/** @returns a connection with a negotiated protocol; `undefined` if none could be opened: the first request will report why. */
function negotiate(url: URL, choice: HttpChoice): Promise<TLSSocket | undefined> {
  return new Promise((resolve) => {
    const socket = tlsSocket(url, choice === 2 ? ["h2"] : ["h2", "http/1.1"]);
    const settle = (agreed: TLSSocket | undefined) => {
      clearTimeout(deadline);
      socket.off("error", failed);
      // It may fail before it is used: the user then sees that it is closed.
      socket.on("error", () => undefined);
      if (agreed === undefined) socket.destroy();
      resolve(agreed);
    };
    const failed = () => settle(undefined);
    const deadline = setTimeout(failed, CONNECT_MS);
    socket.once("secureConnect", () => settle(socket));
    socket.once("error", failed);
  });
}
