import { type IntervalHistogram, monitorEventLoopDelay } from "node:perf_hooks";
import type { Quantiles } from "../metrics/index.ts";

/** Sampling interval, ms; it is part of what Node reports and taken off again. */
const RESOLUTION_MS = 10;

/** How late the event loop of this thread is, measured from the moment at which it is made. */
export class LoopDelay implements Disposable {
  readonly #delay: IntervalHistogram = monitorEventLoopDelay({ resolution: RESOLUTION_MS });

  constructor() {
    this.#delay.enable();
  }

  /** Of everything since it was last begun anew. */
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

  /** p99 since the last call, ms; what comes after counts for the next one. */
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
