import { availableParallelism, loadavg } from "node:os";
import { nowUs, type PreparedRequest, type RequestSender } from "../../http/load-client/index.ts";
import { addressesOf, atAddress, type Target } from "../../target/index.ts";
import { Tally } from "../measure/tally.ts";
import { ttftUs } from "../measure/ttft.ts";
import type { Arrivals } from "../schedule/arrivals.ts";
import { drive } from "./drive.ts";
import type { LoadGuard } from "./load-guard.ts";
import type { RequestOutcome } from "./outcome.ts";
import { type LoadRequestSpec, prepareRequest } from "./prepared-requests.ts";
import { reasonReader } from "./read-reason.ts";
import { senderTo } from "./sender-to.ts";

/** Times of the served requests in one block of load, microseconds from the send. */
export interface BlockTimes {
  readonly responseUs: readonly number[];
  /** Of the streams that had a token. */
  readonly ttftUs: readonly number[];
  /** Between the tokens of streams. */
  readonly gapUs: readonly number[];
  readonly requests: number;
  /** The other requests, by how they ended, with counts. */
  readonly errors: ReadonlyMap<string, RequestOutcome & { readonly count: number }>;
  /** Events of streams, and the socket reads in which they arrived. */
  readonly events: number;
  readonly reads: number;
  readonly durationS: number;
}

export interface LaneOptions {
  readonly target: Target;
  readonly request: LoadRequestSpec;
  /** Maximum number of requests in flight. */
  readonly connections: number;
  /** Counts what all lanes of a target send. */
  readonly guard: LoadGuard;
  /** Stops sending; running requests are awaited. */
  readonly stop: AbortSignal;
  /** Stops everything immediately. */
  readonly abort: AbortSignal;
}

/**
 * After sleeping, a process wakes up late and then reads a response late: by 0.1 ms after a millisecond of sleep on virtual
 * machines, later by up to half a millisecond. One request at a time leaves a core free, so this process does not sleep at all;
 * with more in flight, or on a busy machine, others need the core, and ticks keep it from sleeping for long.
 */
function keepAwake(inFlight: number): Disposable {
  const cores = availableParallelism();
  const [busy = 0] = loadavg();
  if (inFlight > 1 || cores === 1 || busy > cores) {
    const ticks = setInterval(() => undefined, 1);
    return { [Symbol.dispose]: () => clearInterval(ticks) };
  }
  let turning: NodeJS.Immediate;
  const turn = () => {
    turning = setImmediate(turn);
  };
  turn();
  return { [Symbol.dispose]: () => clearImmediate(turning) };
}

/** Maximum number of gaps kept per block. */
const MAX_GAPS = 20_000;

/** Open connections to one target, for blocks of one repeated request; all of its times are kept. */
export class RequestLane implements AsyncDisposable {
  readonly #options: LaneOptions;
  readonly #sender: RequestSender;

  private constructor(options: LaneOptions, sender: RequestSender) {
    this.#options = options;
    this.#sender = sender;
  }

  static async open(options: LaneOptions): Promise<RequestLane> {
    const { target, connections, abort } = options;
    const sender = senderTo(target, { maxConnections: connections });
    const lane = new RequestLane(options, sender);
    abort.addEventListener("abort", lane.#leave, { once: true });
    await sender.open(connections);
    return lane;
  }

  /** Sends one block. */
  async run(arrivals: Arrivals, seed: number): Promise<BlockTimes> {
    const { target, request, guard, stop } = this.#options;
    const prepared = addressesOf(target).map((url) => prepareRequest(atAddress(target, url), request));
    const times = { responseUs: [] as number[], ttftUs: [] as number[], gapUs: [] as number[] };
    const errors = new Map<string, RequestOutcome & { readonly count: number }>();
    let [requests, events, reads] = [0, 0, 0];
    using _ = keepAwake(this.#options.connections);
    const { startUs, endUs } = await drive({
      sender: this.#sender,
      tally: new Tally(nowUs()),
      arrivals,
      seed,
      prepared: (index) => prepared[index % prepared.length] as PreparedRequest,
      reason: reasonReader(target),
      guard,
      signal: AbortSignal.any([stop, guard.signal]),
      precise: false,
      onRequest: (exchange, result) => {
        requests++;
        if (result.outcome !== "admitted") {
          const key = `${result.outcome} ${result.what}`;
          errors.set(key, { ...result, count: (errors.get(key)?.count ?? 0) + 1 });
          return;
        }
        const { sentUs, endUs: endedUs, scanner } = exchange;
        times.responseUs.push(endedUs - sentUs);
        if (!request.stream) return;
        const ttft = ttftUs(exchange);
        if (ttft !== undefined) times.ttftUs.push(ttft);
        events += scanner?.events ?? 0;
        reads += exchange.reads;
        for (const gap of exchange.gapsUs) if (times.gapUs.length < MAX_GAPS) times.gapUs.push(gap);
      },
    });
    const durationS = (endUs - startUs) / 1_000_000;
    return { ...times, requests, errors, events, reads, durationS };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#options.abort.removeEventListener("abort", this.#leave);
    await this.#sender[Symbol.asyncDispose]();
  }

  readonly #leave = () => this.#sender.abortAll();
}
