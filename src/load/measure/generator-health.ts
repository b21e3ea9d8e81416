import { readFileSync } from "node:fs";
import { performance } from "node:perf_hooks";
import { isMainThread } from "node:worker_threads";
import { type Histogram, NO_QUANTILES } from "../../metrics/index.ts";
import type { LoadGenerator } from "../../record/index.ts";
import { problemsOf } from "../calibration/calibrate.ts";
import { LoopDelay } from "./loop-delay.ts";

/** Beyond these, the generator may explain the figures. Milliseconds; for the reasons see docs/metrics.md. */
export interface HealthBounds {
  readonly scheduleLagP99Ms: number;
  readonly loopDelayP99Ms: number;
  /** Share of the time in which it was ready to run but not scheduled, while sends were late; Linux only. */
  readonly starvedShare: number;
  readonly starvedLagP99Ms: number;
  /** From the calibration just before. */
  readonly deliveryLagP99Ms: number;
  /**
   * Share of the time in which the event loop was busy; only if the generator's own limit could be mistaken for the gateway's.
   */
  readonly loopBusyShare?: number;
}

/** A tier run judges by actual send times, and knows when it was stalled itself: it tolerates more than a latency measurement. */
export const TIER_BOUNDS: HealthBounds = {
  scheduleLagP99Ms: 250,
  loopDelayP99Ms: 250,
  starvedShare: 0.8,
  starvedLagP99Ms: 100,
  deliveryLagP99Ms: 250,
};

export const DEFAULT_BOUNDS: HealthBounds = {
  deliveryLagP99Ms: 50,
  scheduleLagP99Ms: 50,
  loopDelayP99Ms: 100,
  starvedShare: 0.5,
  starvedLagP99Ms: 15,
};

/** For a machine that is reported as on time: a gateway's latency is around 50 ms, and a tenth of that is tolerable. */
export const CALIBRATED_BOUNDS = { deliveryLagP99Ms: 5, scheduleLagP99Ms: 5 } as const;

/** A closed loop that measures how much a gateway can serve: a generator without idle time measured itself. */
export const PEAK_BOUNDS: HealthBounds = { ...DEFAULT_BOUNDS, loopBusyShare: 0.97 };

/** Monitors the generator: a verdict about a gateway requires a generator that was on time. */
export class GeneratorHealth implements Disposable {
  readonly #delay = new LoopDelay();
  readonly #cpu = process.cpuUsage();
  readonly #startMs = performance.now();
  readonly #loop = performance.eventLoopUtilization();
  readonly #before = schedulerTimes();
  readonly #sampler: NodeJS.Timeout;
  #peakRss = process.memoryUsage.rss();

  constructor() {
    this.#sampler = setInterval(() => {
      this.#peakRss = Math.max(this.#peakRss, process.memoryUsage.rss());
    }, 250);
    this.#sampler.unref();
  }

  /** @param lag send time minus due time of everything that was sent. */
  close(
    lag: Histogram,
    more: Pick<LoadGenerator, "connectionWaits" | "workers" | "calibration">,
    bounds: HealthBounds = DEFAULT_BOUNDS,
  ): LoadGenerator {
    const { user, system } = process.cpuUsage(this.#cpu);
    const cpuS = (user + system) / 1_000_000;
    const elapsedS = (performance.now() - this.#startMs) / 1_000;
    const scheduleLagMs = lag.quantilesMs() ?? NO_QUANTILES;
    const loopDelayMs = this.#delay.quantilesMs();
    const loopBusyShare = performance.eventLoopUtilization(this.#loop).utilization;
    const { ranS, waitedS } = this.#scheduled();
    // The process also runs garbage collector threads; for one of several worker threads, only its own time counts.
    const usedS = isMainThread ? cpuS : ranS;
    const starved = Number.isNaN(waitedS) || usedS + waitedS < 0.2 ? 0 : waitedS / (usedS + waitedS);
    const problems: string[] = more.calibration === null ? [] : problemsOf(more.calibration, bounds);
    if (scheduleLagMs.p99 > bounds.scheduleLagP99Ms)
      problems.push(`sends were late: p99 ${scheduleLagMs.p99.toFixed(1)} ms, limit ${bounds.scheduleLagP99Ms} ms`);
    if (loopDelayMs.p99 > bounds.loopDelayP99Ms)
      problems.push(
        `the event loop was blocked: p99 ${loopDelayMs.p99.toFixed(1)} ms, limit ${bounds.loopDelayP99Ms} ms`,
      );
    if (starved > bounds.starvedShare && scheduleLagMs.p99 > bounds.starvedLagP99Ms)
      problems.push(
        `other processes used ${Math.round(starved * 100)} % of the CPU time that the load generator needed, limit ${bounds.starvedShare * 100} %`,
      );
    if (loopBusyShare > (bounds.loopBusyShare ?? 1))
      problems.push(
        `the generator had no time left: its event loop was busy for ${(loopBusyShare * 100).toFixed(1)} % of the run, limit ${(bounds.loopBusyShare ?? 1) * 100} %; the gateway may serve more than it could send`,
      );
    return {
      valid: problems.length === 0,
      problems,
      scheduleLagMs,
      loopDelayMs,
      loopBusyShare,
      cpuS,
      cpuShare: elapsedS === 0 ? 0 : cpuS / elapsedS,
      peakRssBytes: Math.max(this.#peakRss, process.memoryUsage.rss()),
      ...more,
    };
  }

  #scheduled(): { ranS: number; waitedS: number } {
    const now = schedulerTimes();
    return { ranS: now.ranS - this.#before.ranS, waitedS: now.waitedS - this.#before.waitedS };
  }

  [Symbol.dispose](): void {
    this.#delay[Symbol.dispose]();
    clearInterval(this.#sampler);
  }
}

/**
 * Merges the parts of one run, threads or processes: the worst part decides, because a single late part is enough to attribute
 * its delay to the gateway.
 *
 * @param whole CPU and memory of all, and the lag of everything that was sent. @param nameOf name of a part, for problems.
 */
export function mergeGenerators(
  whole: LoadGenerator,
  parts: readonly LoadGenerator[],
  nameOf: (index: number) => string,
): LoadGenerator {
  const problems = parts.flatMap((part, index) => part.problems.map((problem) => `${nameOf(index)}: ${problem}`));
  const delays = parts.flatMap(({ loopDelayMs }) => (loopDelayMs === null ? [] : [loopDelayMs]));
  const [slowest] = delays.sort((a, b) => b.p99 - a.p99);
  return {
    ...whole,
    valid: problems.length === 0,
    problems,
    loopDelayMs: slowest ?? null,
    connectionWaits: parts.reduce((sum, { connectionWaits }) => sum + connectionWaits, 0),
  };
}

/** Seconds that this thread ran, and that it was ready but not running, according to Linux; NaN on other systems. */
function schedulerTimes(): { ranS: number; waitedS: number } {
  try {
    const [ran = 0, waited = 0] = readFileSync("/proc/thread-self/schedstat", "utf8").split(" ").map(Number);
    return { ranS: ran / 1e9, waitedS: waited / 1e9 };
  } catch {
    // Not Linux, or not permitted: the other two indicators remain.
    return { ranS: Number.NaN, waitedS: Number.NaN };
  }
}
