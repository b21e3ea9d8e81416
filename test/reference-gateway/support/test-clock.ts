import type { Clock } from "../../../src/core/index.ts";

/** A clock that stands still until it is moved. */
export class TestClock implements Clock {
  wallMs: number;
  monotonicMs = 1_000;

  /** @param start e.g. `2026-03-01T12:00:00Z`. */
  constructor(start = "2026-03-01T12:00:00Z") {
    this.wallMs = Date.parse(start);
  }

  nowMs(): number {
    return this.wallMs;
  }

  monotonicUs(): number {
    return this.monotonicMs * 1_000;
  }

  /** Advances both the wall clock and the monotonic clock. */
  pass(ms: number): void {
    this.wallMs += ms;
    this.monotonicMs += ms;
  }
}
