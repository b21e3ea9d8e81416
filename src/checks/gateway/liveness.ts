import { sleep } from "../../core/index.ts";
import type { LiveExchange } from "../../http/recorder/index.ts";
import type { Response } from "../response/response.ts";
import { PROBE_ROUNDS } from "./gateway-stop.ts";

/** If requests have been in flight without any response for this long, ms, probes check whether the gateway still responds. */
const SILENT_MS = 8_000;
/** The same after this many consecutive requests without a response. */
const MAX_UNANSWERED = 5;
/** A round of probes waits this long for any response, ms. Three rounds take longer than a stall of some seconds or a restart. */
const ROUND_MS = 5_000;
/** In a busy run, other requests show sooner than a probe that the gateway responds, ms. */
const OTHERS_MS = 200;
const TICK_MS = 1_000;

const UNANSWERED: readonly string[] = ["reset", "unreachable", "deadline", "idle-timeout", "protocol-error"];

/** Whether a request got no response, or an incomplete one, for a reason other than that Gauntlet aborted it. */
export function hasNoResponse({ exchange }: Response): boolean {
  return UNANSWERED.includes(exchange.ending.kind);
}

export interface LivenessOptions {
  /** Monotonic, ms. */
  readonly nowMs: () => number;
  /** Sends the plain requests of a round, on new connections. @returns whether they could be sent. */
  readonly probe: (round: number) => boolean;
  readonly onStopped: () => Promise<void>;
}

/**
 * Watches whether a gateway still responds to anything. A request that hangs or is reset is a finding of its check. A gateway
 * that responds to nothing, not even to plain requests on new connections, has stopped, and later requests say nothing about
 * it.
 */
export class Liveness implements Disposable {
  readonly #options: LivenessOptions;
  readonly #inFlight = new Map<LiveExchange, number>();
  readonly #timer: NodeJS.Timeout;
  /** When the gateway last showed that it responds, ms; `undefined` before its first response. */
  #aliveMs: number | undefined;
  #unanswered = 0;
  #probing: Promise<void> | undefined;
  #wake: () => void = () => undefined;
  #hasStopped = false;

  constructor(options: LivenessOptions) {
    this.#options = options;
    this.#timer = setInterval(() => this.#look(), TICK_MS);
    this.#timer.unref();
  }

  /** Resolves when it is known whether the gateway responds; immediately if no probe is running. */
  get settled(): Promise<void> {
    return this.#probing ?? Promise.resolve();
  }

  /** @param isWatched whether its silence is meaningful: a provider that fails on purpose may take a long time. */
  started(live: LiveExchange, isWatched: boolean): void {
    if (isWatched) this.#inFlight.set(live, this.#options.nowMs());
    void live.headed.then((status) => status !== undefined && this.#alive());
  }

  ended(live: LiveExchange, response: Response): void {
    this.#inFlight.delete(live);
    if (response.complete) this.#alive();
    else if (hasNoResponse(response) && ++this.#unanswered >= MAX_UNANSWERED) void this.#startProbing();
  }

  /** Waits until it is known whether the gateway has responded to anything since a given time, or has stopped. */
  async confirm(sinceMs: number): Promise<void> {
    if (this.#hasStopped) return this.settled;
    if (this.#isAliveSince(sinceMs)) return;
    await sleep(OTHERS_MS);
    if (!this.#isAliveSince(sinceMs)) await this.#startProbing();
  }

  #isAliveSince(sinceMs: number): boolean {
    return this.#hasStopped || this.#aliveMs === undefined || this.#aliveMs > sinceMs;
  }

  #alive(): void {
    this.#aliveMs = this.#options.nowMs();
    this.#unanswered = 0;
    this.#wake();
  }

  #look(): void {
    const sinceMs = this.#options.nowMs() - SILENT_MS;
    if (this.#isAliveSince(sinceMs)) return;
    const under = [...this.#inFlight];
    // Parts of a stream count as responses.
    if (under.some(([live]) => live.lastByteUs / 1_000 > sinceMs)) this.#alive();
    else if (under.some(([, startedMs]) => startedMs <= sinceMs)) void this.#startProbing();
  }

  #startProbing(): Promise<void> {
    if (this.#hasStopped || this.#aliveMs === undefined) return Promise.resolve();
    this.#probing ??= this.#probe().finally(() => {
      this.#probing = undefined;
    });
    return this.#probing;
  }

  async #probe(): Promise<void> {
    const beganMs = this.#options.nowMs();
    for (let round = 0; round < PROBE_ROUNDS; round++) {
      if (!this.#options.probe(round)) return;
      const awake = new AbortController();
      this.#wake = () => awake.abort();
      await sleep(ROUND_MS, awake.signal);
      // If this process stalled, it first reads what has arrived in the meantime.
      await new Promise(setImmediate);
      if ((this.#aliveMs ?? beganMs) > beganMs) return;
      if ([...this.#inFlight.keys()].some((live) => live.lastByteUs / 1_000 > beganMs)) return this.#alive();
    }
    this.#hasStopped = true;
    await this.#options.onStopped();
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }
}
