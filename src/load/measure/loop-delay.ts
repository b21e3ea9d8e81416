import { type IntervalHistogram, monitorEventLoopDelay } from "node:perf_hooks";
import type { Quantiles } from "../../metrics/index.ts";

/** Sampling interval, ms; Node includes it in what it reports, and it is subtracted again. */
const RESOLUTION_MS = 10;

/** The event-loop delay of this thread, measured from construction on. */
export class LoopDelay implements Disposable {
  readonly #delay: IntervalHistogram = monitorEventLoopDelay({ resolution: RESOLUTION_MS });

  constructor() {
    this.#delay.enable();
  }

  /** Quantiles since the last reset. */
  quantilesMs(): Quantiles {
    return {
      p50: this.#atMs(0.5),
      p90: this.#atMs(0.9),
      p95: this.#atMs(0.95),
      p99: this.#atMs(0.99),
      p999: this.#atMs(0.999),
      max: Math.max(0, this.#delay.max / 1e6 - RESOLUTION_MS),
    };
  }

  /** p99 since the last call, ms; resets the measurement. */
  takeP99Ms(): number {
    const p99Ms = this.#atMs(0.99);
    this.#delay.reset();
    return p99Ms;
  }

  #atMs(share: number): number {
    return Math.max(0, this.#delay.percentile(share * 100) / 1e6 - RESOLUTION_MS);
  }

  [Symbol.dispose](): void {
    this.#delay.disable();
  }
}
