import { InternalError } from "../../core/index.ts";
import { InFlightGauge } from "./in-flight-gauge.ts";
import type { LoadExchange, PreparedRequest } from "./load-exchange.ts";
import type { OnEnd, RequestSender, SenderOptions } from "./request-sender.ts";
import { type HttpChoice, Sender } from "./sender.ts";

interface SpreadOptions extends Omit<SenderOptions, "url"> {
  readonly http?: HttpChoice | undefined;
}

/**
 * Sends requests to the several addresses of one service. A request names its address, and its connection belongs to that one.
 * The bound on requests in flight is that of all addresses together.
 */
export class SpreadSender implements RequestSender {
  /** By origin: addresses that differ only in their paths share connections. */
  readonly #senders: ReadonlyMap<string, Sender>;
  readonly #maxInFlight: number;
  #pending = 0;
  #peak = 0;
  readonly #byUrl = new Map<string, Sender>();

  constructor(urls: readonly string[], options: SpreadOptions) {
    const gauge = options.gauge ?? new InFlightGauge();
    this.#maxInFlight = options.maxConnections;
    // Connections are numbered over all addresses, because their numbers identify them in the record.
    const connectionCounter = { connections: 0 };
    this.#senders = new Map(
      urls.map((url) => [new URL(url).origin, new Sender({ ...options, url, gauge, connectionCounter })]),
    );
  }

  get #all(): readonly Sender[] {
    return [...this.#senders.values()];
  }

  get inFlight(): number {
    return this.#sum((sender) => sender.inFlight);
  }
  get opened(): number {
    return this.#sum((sender) => sender.opened);
  }
  get waits(): number {
    return this.#sum((sender) => sender.waits);
  }
  get peakInFlight(): number {
    return this.#peak;
  }
  get lastFailure(): string | undefined {
    return this.#all.find((sender) => sender.lastFailure !== undefined)?.lastFailure;
  }
  /** The protocol of the first address. */
  get protocol(): Sender["protocol"] {
    return this.#all[0]?.protocol;
  }

  async open(count: number): Promise<number> {
    const each = Math.ceil(count / this.#senders.size);
    const opened = await Promise.all(this.#all.map((sender) => sender.open(each)));
    return opened.reduce((sum, of) => sum + of, 0);
  }

  send(prepared: PreparedRequest, dueUs: number, onEnd: OnEnd): boolean {
    // Includes requests that wait for their connection to open.
    if (this.#pending >= this.#maxInFlight) return false;
    const isSent = this.#senderOf(prepared).send(prepared, dueUs, (exchange) => {
      this.#pending--;
      onEnd(exchange);
    });
    if (isSent) this.#pending++;
    this.#peak = Math.max(this.#peak, this.inFlight);
    return isSent;
  }

  abortAll(): void {
    for (const sender of this.#all) sender.abortAll();
  }

  underWay(prepared: PreparedRequest): LoadExchange | undefined {
    return this.#senderOf(prepared).underWay(prepared);
  }

  abort(exchange: LoadExchange): void {
    this.#senderOf(exchange.prepared).abort(exchange);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#all.map((sender) => sender[Symbol.asyncDispose]()));
  }

  #senderOf({ url }: PreparedRequest): Sender {
    const known = this.#byUrl.get(url);
    if (known !== undefined) return known;
    const sender = this.#senders.get(new URL(url).origin);
    if (sender === undefined) throw new InternalError(`a request for ${url}, which is not an address of the target`);
    this.#byUrl.set(url, sender);
    return sender;
  }

  #sum(of: (sender: Sender) => number): number {
    return this.#all.reduce((sum, sender) => sum + of(sender), 0);
  }
}
