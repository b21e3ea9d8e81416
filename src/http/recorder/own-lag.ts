import type { Clock } from "../../core/index.ts";

const TICK_MS = 10;
/** Smaller delays are within the timer's normal error, ms. */
const NOTICEABLE_MS = 15;
/** Maximum number of delays kept: those of the last minutes, even on a machine that is always busy. */
const KEPT = 4_096;

interface Delay {
  readonly fromUs: number;
  readonly toUs: number;
}

/**
 * Records stalls of this process, by its own work or by a busy machine. Measurements taken during a stall say little about the
 * gateway.
 */
export class OwnLag implements Disposable {
  readonly #clock: Clock;
  readonly #delays: Delay[] = [];
  readonly #timer: NodeJS.Timeout;
  #dueUs: number;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#dueUs = clock.monotonicUs() + TICK_MS * 1_000;
    this.#timer = setInterval(() => this.#tick(), TICK_MS);
    this.#timer.unref();
  }

  /** Longest delay that overlaps the span, ms. Arguments are times of the same clock, µs. */
  within(fromUs: number, toUs: number): number {
    return Math.round(Math.max(0, ...this.#during(fromUs, toUs).map((delay) => delay.toUs - delay.fromUs)) / 1_000);
  }

  /** Time within the span in which this process was stalled, ms. */
  lostWithin(fromUs: number, toUs: number): number {
    const lost = this.#during(fromUs, toUs).map((delay) => Math.min(delay.toUs, toUs) - Math.max(delay.fromUs, fromUs));
    return lost.reduce((sum, us) => sum + us, 0) / 1_000;
  }

  /** The delays that overlap a span. */
  #during(fromUs: number, toUs: number): Delay[] {
    this.#tick();
    const found: Delay[] = [];
    for (let at = this.#delays.length - 1; at >= 0; at--) {
      const delay = this.#delays[at];
      if (delay === undefined || delay.toUs < fromUs) break;
      if (delay.fromUs <= toUs) found.push(delay);
    }
    return found;
  }

  #tick(): void {
    const nowUs = this.#clock.monotonicUs();
    if (nowUs - this.#dueUs > NOTICEABLE_MS * 1_000) {
      this.#delays.push({ fromUs: this.#dueUs, toUs: nowUs });
      if (this.#delays.length > KEPT) this.#delays.splice(0, KEPT / 2);
    }
    if (nowUs >= this.#dueUs) this.#dueUs = nowUs + TICK_MS * 1_000;
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }
}
