import { CarrierSender } from "./carrier-sender.ts";
import { LoadConnection, makeReadBuffer, type ReadBuffer } from "./load-connection.ts";
import { type LoadExchange, nowUs, type PreparedRequest } from "./load-exchange.ts";
import type { OnEnd } from "./request-sender.ts";

/** Connections that are opened concurrently: a listening socket's backlog is often 128 or 511. */
const OPEN_AT_ONCE = 100;
/** A connection that was idle for this long may have been closed by the server just as the request was sent. */
const STALE_AFTER_US = 500_000;

/**
 * Sends requests over persistent connections, one exchange on each at a time. Deadlines, sizes and idle times are bounded;
 * nothing is retried, except once for a request on a connection that the server closed while it was idle (RFC 9112, 9.3).
 */
export class Http1Sender extends CarrierSender<LoadConnection> {
  readonly #buffer: ReadBuffer = makeReadBuffer();
  readonly #free: LoadConnection[] = [];
  #opening = 0;

  async open(count: number): Promise<number> {
    const missing = Math.min(count, this.options.maxConnections) - this.#free.length - this.busy.size;
    for (let left = missing; left > 0 && !this.closed; left -= OPEN_AT_ONCE) {
      const opened = await Promise.all(Array.from({ length: Math.min(left, OPEN_AT_ONCE) }, () => this.#openIdle()));
      // Do not wait a hundred times for a host that accepts no connection.
      if (!opened.includes(true)) break;
    }
    return this.#free.length + this.busy.size;
  }

  send(prepared: PreparedRequest, dueUs: number, onEnd: OnEnd): boolean {
    if (this.closed || this.busy.size + this.#opening >= this.options.maxConnections) return false;
    const exchange = this.exchangeOf(prepared, dueUs);
    const connection = this.#takeFree();
    if (connection === undefined) void this.#sendOnNew(exchange, onEnd);
    else this.#start(connection, exchange, onEnd);
    return true;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.close();
    for (const connection of this.#free) connection.destroy();
    this.#free.length = 0;
  }

  #takeFree(): LoadConnection | undefined {
    for (let candidate = this.#free.pop(); candidate !== undefined; candidate = this.#free.pop()) {
      if (candidate.alive) return candidate;
    }
    return undefined;
  }

  #start(connection: LoadConnection, exchange: LoadExchange, onEnd: OnEnd): void {
    this.busy.set(connection, onEnd);
    this.countIn(exchange);
    connection.send(exchange);
  }

  async #sendOnNew(exchange: LoadExchange, onEnd: OnEnd): Promise<void> {
    this.waits++;
    this.#opening++;
    const startUs = nowUs();
    const { connection, failure } = await this.#connect();
    this.#opening--;
    if (failure !== undefined || this.closed) {
      exchange.ending = this.closed ? "aborted" : "unreachable";
      exchange.detail = failure ?? "";
      exchange.endUs = nowUs();
      onEnd(exchange);
      return;
    }
    this.#start(connection, exchange, onEnd);
    // The response time starts when the client wants to send: it includes a handshake that the request has to wait for.
    exchange.connectUs = exchange.sentUs - startUs;
    exchange.sentUs = startUs;
  }

  async #openIdle(): Promise<boolean> {
    const { connection, failure } = await this.#connect();
    if (failure === undefined) this.#free.push(connection);
    return failure === undefined;
  }

  async #connect(): Promise<{ connection: LoadConnection; failure: string | undefined }> {
    const connection = new LoadConnection(++this.connectionCounter.connections, {
      onExchange: (exchange, from) => this.#ended(exchange, from),
      onIdleClose: (from) => this.#forget(from),
    });
    const failure = await connection.open(this.url, this.#buffer);
    if (failure === undefined) this.opened++;
    else this.lastFailure = failure;
    return { connection, failure };
  }

  #ended(exchange: LoadExchange, connection: LoadConnection): void {
    const onEnd = this.countOut(connection);
    const { sentUs, ending, status, firstByteUs, earlier } = exchange;
    if (exchange.reusable && !this.closed) this.#free.push(connection);
    if (onEnd === undefined) return;
    const idleUs = sentUs - connection.idleBeforeSendUs;
    if (
      ending === "reset" &&
      status === 0 &&
      firstByteUs === 0 &&
      earlier > 0 &&
      idleUs > STALE_AFTER_US &&
      !this.closed
    ) {
      const again = this.exchangeOf(exchange.prepared, exchange.dueUs);
      again.stale = true;
      void this.#sendOnNew(again, onEnd);
      return;
    }
    onEnd(exchange);
  }

  #forget(connection: LoadConnection): void {
    const at = this.#free.indexOf(connection);
    if (at !== -1) this.#free.splice(at, 1);
  }
}
