import { InFlightGauge } from "./in-flight-gauge.ts";
import { type Ending, LoadExchange, nowUs, type PreparedRequest } from "./load-exchange.ts";
import { type OnEnd, overdue, type RequestSender, type SenderOptions, SWEEP_MS } from "./request-sender.ts";

/** Maximum number of bytes kept of a response. */
const MAX_KEPT_BYTES = 256 * 1024;

/** What carries one exchange: an HTTP/1.1 connection, or an HTTP/2 stream. */
interface Carrier {
  readonly exchange: LoadExchange | undefined;
  leave(why: Ending): void;
}

/** What all senders share, whatever the protocol: the running exchanges by their carrier, and their bounds. */
export abstract class CarrierSender<C extends Carrier> implements RequestSender {
  opened = 0;
  waits = 0;
  peakInFlight = 0;
  lastFailure: string | undefined;
  protected readonly options: SenderOptions;
  protected readonly url: URL;
  protected readonly busy = new Map<C, OnEnd>();
  protected readonly connectionCounter: { connections: number };
  protected closed = false;
  readonly #gauge: InFlightGauge;
  readonly #sweeper: NodeJS.Timeout;

  constructor(options: SenderOptions) {
    this.options = options;
    this.url = new URL(options.url);
    this.connectionCounter = options.connectionCounter ?? { connections: 0 };
    this.#gauge = options.gauge ?? new InFlightGauge();
    this.#sweeper = setInterval(() => this.#sweep(), SWEEP_MS);
    this.#sweeper.unref();
  }

  abstract open(count: number): Promise<number>;
  abstract send(prepared: PreparedRequest, dueUs: number, onEnd: OnEnd): boolean;
  abstract [Symbol.asyncDispose](): Promise<void>;

  get inFlight(): number {
    return this.busy.size;
  }

  abortAll(): void {
    for (const carrier of [...this.busy.keys()]) carrier.leave("aborted");
  }

  underWay(prepared: PreparedRequest): LoadExchange | undefined {
    for (const { exchange } of this.busy.keys()) if (exchange?.prepared === prepared) return exchange;
    return undefined;
  }

  abort(exchange: LoadExchange): void {
    [...this.busy.keys()].find((carrier) => carrier.exchange === exchange)?.leave("aborted");
  }

  /** Sends no more requests and aborts those in flight. */
  protected close(): void {
    this.closed = true;
    clearInterval(this.#sweeper);
    this.abortAll();
  }

  protected exchangeOf(prepared: PreparedRequest, dueUs: number): LoadExchange {
    return new LoadExchange(prepared, dueUs, MAX_KEPT_BYTES, this.options.onStamp);
  }

  protected countIn(exchange: LoadExchange): void {
    exchange.inFlight = this.#gauge.enter();
    if (exchange.inFlight > this.peakInFlight) this.peakInFlight = exchange.inFlight;
  }

  /** Removes an ended exchange from the count. @returns its callback; `undefined` if it was removed before. */
  protected countOut(carrier: C): OnEnd | undefined {
    const onEnd = this.busy.get(carrier);
    if (this.busy.delete(carrier)) this.#gauge.leave();
    return onEnd;
  }

  #sweep(): void {
    const now = nowUs();
    // Entries are deleted during the iteration, which is allowed for a map.
    for (const carrier of this.busy.keys()) {
      const { exchange } = carrier;
      const why = exchange === undefined ? undefined : overdue(exchange, now, this.options);
      if (why !== undefined) carrier.leave(why);
    }
  }
}
