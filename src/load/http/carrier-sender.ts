import { InFlightGauge } from "./in-flight-gauge.ts";
import { type Ending, LoadExchange, nowUs, type PreparedRequest } from "./load-exchange.ts";
import { type OnEnd, overdue, type RequestSender, type SenderOptions, SWEEP_MS } from "./request-sender.ts";

/** Bytes of an answer that are kept. */
const MAX_KEPT_BYTES = 256 * 1024;

/** What carries one exchange: a connection, or a stream of one. */
interface Carrier {
  readonly exchange: LoadExchange | undefined;
  leave(why: Ending): void;
}

/** What senders have in common, whatever they speak: the exchanges under way by what carries them, and their bounds. */
export abstract class CarrierSender<C extends Carrier> implements RequestSender {
  opened = 0;
  waits = 0;
  peakInFlight = 0;
  lastFailure: string | undefined;
  protected readonly options: SenderOptions;
  protected readonly url: URL;
  protected readonly busy = new Map<C, OnEnd>();
  protected closed = false;
  readonly #gauge: InFlightGauge;
  readonly #sweeper: NodeJS.Timeout;

  constructor(options: SenderOptions) {
    this.options = options;
    this.url = new URL(options.url);
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

  /** Sends nothing more, and leaves what is under way. */
  protected close(): void {
    this.closed = true;
    clearInterval(this.#sweeper);
    this.abortAll();
  }

  protected exchangeOf(prepared: PreparedRequest, dueUs: number): LoadExchange {
    return new LoadExchange(prepared, dueUs, MAX_KEPT_BYTES, this.options.onStamp);
  }

  /** Counts an exchange that is sent now. */
  protected countIn(exchange: LoadExchange): void {
    exchange.inFlight = this.#gauge.enter();
    if (exchange.inFlight > this.peakInFlight) this.peakInFlight = exchange.inFlight;
  }

  /** Counts one out that has ended. @returns who is told of it; `undefined`: it was counted out before. */
  protected countOut(carrier: C): OnEnd | undefined {
    const onEnd = this.busy.get(carrier);
    if (this.busy.delete(carrier)) this.#gauge.leave();
    return onEnd;
  }

  #sweep(): void {
    const now = nowUs();
    // What is left is taken out of the map meanwhile, which the walk bears.
    for (const carrier of this.busy.keys()) {
      const { exchange } = carrier;
      const why = exchange === undefined ? undefined : overdue(exchange, now, this.options);
      if (why !== undefined) carrier.leave(why);
    }
  }
}
