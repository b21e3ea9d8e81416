import { Readable } from "node:stream";
import { type Clock, systemClock } from "../../core/index.ts";
import { Connection, type ConnectionOptions } from "./connection.ts";
import { type Bounds, DEFAULT_BOUNDS, type Exchange } from "./exchange.ts";
import { LiveExchange, type OutgoingRequest } from "./live-exchange.ts";
import { OwnLag } from "./own-lag.ts";
import { Redactor, type Secret } from "./redaction/redact.ts";
import { filledStream, isFilled } from "./sent-body.ts";

export interface RecorderOptions {
  /** Values that must not be shown anywhere. */
  readonly secrets: readonly Secret[];
  /** Called with every finished exchange, already redacted. */
  readonly onExchange?: (exchange: Exchange) => void;
  readonly bounds?: Partial<Bounds>;
  readonly connection?: ConnectionOptions;
  readonly clock?: Clock;
}

export interface SendOptions {
  readonly bounds?: Partial<Bounds>;
  /** `true`: opens a new connection for this exchange. Default: reuses an idle one if there is any. */
  readonly freshConnection?: boolean;
}

/** Performs and records HTTP exchanges: no retries, no redirects, bounded in bytes and time. Close it with `await using`. */
export class Recorder implements AsyncDisposable {
  readonly #options: RecorderOptions;
  readonly #clock: Clock;
  readonly #originUs: number;
  readonly #redactor: Redactor;
  readonly #idle = new Map<string, Connection[]>();
  readonly #open = new Set<Connection>();
  readonly #live = new Set<LiveExchange>();
  readonly #ownLag: OwnLag;
  #exchanges = 0;
  #sockets = 0;

  constructor(options: RecorderOptions) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#originUs = this.#clock.monotonicUs();
    this.#redactor = new Redactor(options.secrets);
    this.#ownLag = new OwnLag(this.#clock);
  }

  get redactor(): Redactor {
    return this.#redactor;
  }

  /** µs since this recorder's origin: the time base of all its exchanges. */
  nowUs(): number {
    return this.#clock.monotonicUs() - this.#originUs;
  }

  /**
   * Sends a request and returns immediately; the exchange can be watched and aborted. Never throws for anything a gateway does.
   */
  start(request: OutgoingRequest, { bounds, freshConnection = false }: SendOptions = {}): LiveExchange {
    const url = new URL(request.url);
    const connection = this.#take(url.origin, freshConnection);
    const live = new LiveExchange(request, connection, {
      id: `x${String(++this.#exchanges).padStart(5, "0")}`,
      bounds: { ...DEFAULT_BOUNDS, ...this.#options.bounds, ...bounds },
      clock: this.#clock,
      originUs: this.#originUs,
      redactor: this.#redactor,
      ownLag: this.#ownLag,
    });
    this.#live.add(live);
    const filled = isFilled(request.body) ? filledStream(request.body) : undefined;
    connection.client.dispatch(
      {
        path: url.pathname + url.search,
        method: request.method as "GET",
        headers: [
          ...request.headers,
          ...(filled === undefined || request.pieces !== undefined ? [] : [filled.header]),
        ].flat(),
        body: filled?.stream ?? bodyOf(request),
      },
      live,
    );
    void live.done.then((exchange) => {
      this.#live.delete(live);
      this.#giveBack(url.origin, connection, exchange);
      this.#options.onExchange?.(exchange);
    });
    return live;
  }

  /** Sends a request and waits for the end of the exchange. */
  send(request: OutgoingRequest, options?: SendOptions): Promise<Exchange> {
    return this.start(request, options).done;
  }

  /** Aborts all running exchanges. */
  abortAll(): void {
    for (const live of this.#live) live.abort();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.abortAll();
    this.#ownLag[Symbol.dispose]();
    await Promise.all([...this.#live].map((live) => live.done));
    await Promise.all([...this.#open].map((connection) => connection.destroy()));
  }

  #take(origin: string, fresh: boolean): Connection {
    const idle = fresh ? undefined : this.#idle.get(origin)?.pop();
    if (idle !== undefined) return idle;
    const connection = new Connection(origin, () => `c${++this.#sockets}`, this.#options.connection);
    this.#open.add(connection);
    return connection;
  }

  #giveBack(origin: string, connection: Connection, exchange: Exchange): void {
    if (exchange.ending.kind === "complete" && exchange.afterwards === undefined && !connection.client.destroyed) {
      const idle = this.#idle.get(origin) ?? [];
      idle.push(connection);
      this.#idle.set(origin, idle);
      return;
    }
    this.#open.delete(connection);
    void connection.destroy();
  }
}

/** The body in the form that undici expects: a body of unknown length is sent in chunks (RFC 9112, 7.1). */
function bodyOf({ body, pieces }: OutgoingRequest): string | Uint8Array | Readable | null {
  if (body === undefined || isFilled(body)) return null;
  if (pieces === undefined) return body;
  const bytes = Buffer.from(body);
  const size = Math.max(1, Math.ceil(bytes.length / pieces));
  const starts = Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) => index * size);
  return Readable.from(starts.map((start) => bytes.subarray(start, start + size)));
}
