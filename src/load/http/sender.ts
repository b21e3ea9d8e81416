import type { TLSSocket } from "node:tls";
import { InternalError } from "../../core/index.ts";
import { Http1Sender } from "./http1-sender.ts";
import type { LoadExchange, PreparedRequest } from "./load-exchange.ts";
import type { OnEnd, RequestSender, SenderOptions } from "./request-sender.ts";
import { tlsSocket } from "./tls-socket.ts";

/** Which HTTP is spoken: 1 or 2 whatever is offered, or what the TLS handshake agrees on. */
export type HttpChoice = 1 | 2 | "offered";

/** Handshake, ms. */
const CONNECT_MS = 10_000;

/**
 * Sends requests over connections that stay open: HTTP/1.1 with one exchange on each at a time, or HTTP/2 where the target
 * chooses it in the TLS handshake (RFC 9113, 3.2) or is said to know it. Deadlines, sizes and silences are bounded.
 */
export class Sender implements RequestSender {
  readonly #options: SenderOptions;
  readonly #choice: HttpChoice;
  #inner: RequestSender | undefined;
  /** What is spoken; `undefined` until `open` has asked. */
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
      // Loaded where it is spoken: it takes a while, and most loads go without.
      const { Http2Sender } = await import("./http2-sender.ts");
      return new Http2Sender(this.#options, socket?.alpnProtocol === "h2" ? socket : undefined);
    }
    socket?.destroy();
    this.protocol = "HTTP/1.1";
    return new Http1Sender(this.#options);
  }
}

/** @returns a connection that has agreed on what is spoken; `undefined` when none came about: the first request will tell why. */
function negotiate(url: URL, choice: HttpChoice): Promise<TLSSocket | undefined> {
  return new Promise((resolve) => {
    const socket = tlsSocket(url, choice === 2 ? ["h2"] : ["h2", "http/1.1"]);
    const settle = (agreed: TLSSocket | undefined) => {
      clearTimeout(deadline);
      socket.off("error", failed);
      // Between this and its use it may break: whoever uses it sees that it is closed.
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
