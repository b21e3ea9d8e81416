import { type Clock, systemClock } from "../core/index.ts";

/**
 * A clock whose wall and monotonic parts an operator can shift independently: moving the wall clock over a day boundary must
 * not empty or refill a rate window, and skipping a rate window must not start a new day.
 */
export class GatewayClock implements Clock {
  readonly #base: Clock;
  #wallShiftMs = 0;
  #monotonicShiftUs = 0;

  constructor(base: Clock = systemClock) {
    this.#base = base;
  }

  nowMs(): number {
    return this.#base.nowMs() + this.#wallShiftMs;
  }

  monotonicUs(): number {
    return this.#base.monotonicUs() + this.#monotonicShiftUs;
  }

  get wallShiftMs(): number {
    return this.#wallShiftMs;
  }

  get monotonicShiftMs(): number {
    return this.#monotonicShiftUs / 1_000;
  }

  /** @param ms added to the wall clock; may be negative. */
  shiftWall(ms: number): void {
    this.#wallShiftMs += ms;
  }

  /** @param ms added to the monotonic clock; 0 or more, because limiters rely on time that never goes backwards. */
  skipMonotonic(ms: number): void {
    this.#monotonicShiftUs += Math.max(0, ms) * 1_000;
  }
}
