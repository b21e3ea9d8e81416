import { onAbort, sleep } from "../../core/index.ts";
import { WINDOW_OVER_MS } from "../../limits/index.ts";
import type { Limits } from "../../target/index.ts";

/** Share of a limit that conformance traffic uses, so that a denial is significant and not caused by us. */
const SHARE = 0.85;
/** Limits of a new account by the specification: the default tier. */
const DEFAULT_LIMITS: Limits = { rpm: 300, inFlight: 64 };
/** Slowest even pace, ms between requests: twenty per minute is the lowest useful rate. */
const SLOWEST_MS = 3_500;
/** Consecutive denials of requests sent as slowly as Retry-After says, after which the account counts as unusable. */
const MAX_CONSECUTIVE_DENIALS = 5;

/** Minimum Retry-After that indicates a one-minute window, ms; and minimum number of requests to infer its limit from. */
const WINDOW_WAIT_MS = 5_000;
const MIN_WINDOW = 20;

/** More concurrent conformance requests do not help on two cores, if replies are immediate. */
const MAX_IN_FLIGHT = 24;

/** Why a request is delayed: our share of the rate is used up, or the gateway requested a wait. */
type Throttled = "rate window" | "Retry-After";
type OnThrottle = (what: Throttled, forMs: number) => void;

/** Keeps the conformance traffic of one account below its limits, and slows down after denials. */
export class Throttle {
  readonly #nowMs: () => number;
  readonly #factor: () => number;
  /** Whether the limits of the account are unknown: then denials show them. */
  readonly #isUndeclared: boolean;
  #mostInWindow: number;
  #mostInFlight: number;
  #intervalMs = 0;
  #notBeforeMs = Number.NEGATIVE_INFINITY;
  #inFlight = 0;
  #slowedMs = Number.NEGATIVE_INFINITY;
  #denials = 0;
  readonly #sentMs: number[] = [];
  #turn: Promise<unknown> = Promise.resolve();
  #freed: () => void = () => undefined;

  /**
   * @param limits of the account; `undefined` if the operator does not state them: the default tier is assumed.
   * @param nowMs monotonic: a wall clock that is set back by an hour would delay the run by that hour.
   * @param factor how many times more may be in flight, because replies take time.
   */
  constructor(limits: Limits | undefined, nowMs: () => number, factor = () => 1) {
    const { rpm, inFlight } = limits ?? DEFAULT_LIMITS;
    this.#nowMs = nowMs;
    this.#factor = factor;
    this.#isUndeclared = limits === undefined;
    this.#mostInWindow = Math.max(1, Math.floor(rpm * SHARE));
    this.#mostInFlight = Math.max(1, Math.floor(inFlight * SHARE));
  }

  /** Waits for a slot. Callers are served in order. @param onWait called when a wait begins. */
  enter(signal: AbortSignal, onWait?: OnThrottle): Promise<number> {
    const mine = this.#turn.then(() => this.#wait(signal, onWait));
    this.#turn = mine.catch(() => undefined);
    return mine;
  }

  /** Counts a request that was sent without waiting, so that later requests account for it. */
  count(): void {
    this.#sentMs.push(this.#nowMs());
  }

  leave(): void {
    this.#inFlight--;
    this.#freed();
  }

  /** Whether waiting for this account is pointless. An account that denies everything would delay the run. */
  get isUnusable(): boolean {
    return this.#denials >= MAX_CONSECUTIVE_DENIALS;
  }

  /** Called when a request was admitted: the account is usable. */
  admitted(): void {
    this.#denials = 0;
  }

  /**
   * Called on an ambient denial: waits for the Retry-After, then continues at an even pace with fewer requests in flight.
   *
   * @param sentMs when the denied request was sent, on the clock of the pace. A denial of an earlier request says nothing new.
   */
  slowDown(reason: string, waitMs: number, sentMs: number): void {
    if (sentMs < this.#slowedMs) return;
    const nowMs = this.#nowMs();
    this.#slowedMs = nowMs;
    this.#denials++;
    this.#notBeforeMs = Math.max(this.#notBeforeMs, nowMs + waitMs);
    if (reason === "concurrency_limit_exceeded") this.#mostInFlight = Math.max(1, Math.floor(this.#inFlightNow / 2));
    // A wait of some seconds is for a window to end: its capacity is what was sent in it.
    else if (this.#isUndeclared && waitMs >= WINDOW_WAIT_MS && this.#sentMs.length >= MIN_WINDOW)
      this.#mostInWindow = Math.max(1, Math.min(this.#mostInWindow, Math.floor(this.#sentMs.length * SHARE)));
    // A limiter without burst admits evenly spaced requests only; the first guess is our share of the known rate.
    else
      this.#intervalMs = Math.min(
        SLOWEST_MS,
        this.#intervalMs === 0 ? 60_000 / this.#mostInWindow : this.#intervalMs * 2,
      );
    if (!this.isUnusable) return;
    this.#intervalMs = 0;
    this.#notBeforeMs = Number.NEGATIVE_INFINITY;
  }

  async #wait(signal: AbortSignal, onWait: OnThrottle | undefined): Promise<number> {
    for (;;) {
      signal.throwIfAborted();
      const { waitMs, what } = this.#nextWait();
      if (waitMs > 0) onWait?.(what, waitMs);
      if (waitMs > 0) await sleep(waitMs, signal);
      else if (this.#inFlight >= this.#inFlightNow) await this.#nextFreed(signal);
      else break;
    }
    this.#sentMs.push(this.#nowMs());
    return ++this.#inFlight;
  }

  /** Requests that may be in flight at this moment. */
  get #inFlightNow(): number {
    return Math.min(this.#mostInFlight, Math.round(MAX_IN_FLIGHT * this.#factor()));
  }

  #nextWait(): { readonly waitMs: number; readonly what: Throttled } {
    const now = this.#nowMs();
    while (this.#sentMs.length > 0 && (this.#sentMs[0] ?? 0) <= now - WINDOW_OVER_MS) this.#sentMs.shift();
    const full = this.#sentMs.length >= this.#mostInWindow ? (this.#sentMs[0] ?? 0) + WINDOW_OVER_MS - now : 0;
    const last = this.#sentMs.at(-1);
    const even = last === undefined ? 0 : last + this.#intervalMs - now;
    const byHeader = this.#notBeforeMs - now;
    const waitMs = Math.max(full, even, byHeader);
    return { waitMs, what: waitMs === byHeader ? "Retry-After" : "rate window" };
  }

  #nextFreed(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const done = () => {
        listening[Symbol.dispose]();
        this.#freed = () => undefined;
        resolve();
      };
      const listening = onAbort(signal, done);
      this.#freed = done;
    });
  }
}
