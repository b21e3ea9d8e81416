import { sleep } from "../../core/index.ts";
import type { Secret } from "../../http/recorder/index.ts";
import { judgeLeaks } from "../../load/index.ts";
import type { JudgedLoad, JudgedRun, WatchedSample } from "../../record/index.ts";
import { EvenSamples } from "./even-samples.ts";
import { LogSamples, type WatchedLogs } from "./log-samples.ts";
import { type MetricsOptions, MetricsWatch } from "./metrics-watch.ts";
import type { TreeUse, WatchedProcesses } from "./process-tree.ts";

/** How long the target has to release what the load needed. */
const AFTER_MS = 3_000;

export interface TargetWatchParts {
  readonly intervalMs: number;
  readonly processes: WatchedProcesses | undefined;
  readonly logs: WatchedLogs | undefined;
  readonly metrics: MetricsOptions | undefined;
}

/** Watches the target's side of a load: its processes on this machine, and the metrics it exposes. */
export class TargetWatch implements AsyncDisposable {
  /** Secrets to mask in what the target reports. */
  readonly secrets: readonly Secret[];
  readonly #processes: ProcessSamples | undefined;
  readonly #logs: LogSamples | undefined;
  readonly #metrics: MetricsWatch | undefined;

  private constructor(
    secrets: readonly Secret[],
    {
      processes,
      logs,
      metrics,
    }: { processes: ProcessSamples | undefined; logs: LogSamples | undefined; metrics: MetricsWatch | undefined },
  ) {
    this.secrets = secrets;
    this.#processes = processes;
    this.#logs = logs;
    this.#metrics = metrics;
  }

  /** @returns when there is a first sample of each, or none is available. */
  static async open({ intervalMs, processes, logs, metrics }: TargetWatchParts): Promise<TargetWatch> {
    const key = metrics?.key;
    const scraped = metrics && (await MetricsWatch.open(metrics));
    return new TargetWatch(key === undefined ? [] : [{ name: "key.watch", value: key }], {
      processes: processes && new ProcessSamples(processes, intervalMs),
      logs: logs && new LogSamples(logs, intervalMs),
      metrics: scraped,
    });
  }

  /** Continues for a while after the load, then adds the samples to each of its runs. */
  async finish(section: JudgedLoad, signal: AbortSignal): Promise<JudgedLoad> {
    await sleep(AFTER_MS, signal);
    this.#processes?.end();
    this.#logs?.end();
    await this.#metrics?.end();
    return { runs: section.runs.map((run) => this.#added(run)) };
  }

  #added(run: JudgedRun): JudgedRun {
    const startMs = Date.parse(run.startedAt);
    const processes = this.#processes?.section(startMs, run.durationS);
    const logs = this.#logs?.section(startMs);
    const metrics = this.#metrics?.section(startMs, run.durationS);
    return { ...run, watched: { ...(processes && { processes }), ...(logs && { logs }), ...(metrics && { metrics }) } };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#processes?.[Symbol.dispose]();
    this.#logs?.[Symbol.dispose]();
    await this.#metrics?.[Symbol.asyncDispose]();
  }
}

/** Samples of what processes hold. */
class ProcessSamples implements Disposable {
  readonly #processes: WatchedProcesses;
  readonly #timer: NodeJS.Timeout;
  readonly #taken = new EvenSamples<TreeUse & { readonly atMs: number }>();

  constructor(processes: WatchedProcesses, intervalMs: number) {
    this.#processes = processes;
    this.#timer = setInterval(() => this.#take(), intervalMs);
    this.#take();
  }

  /** Takes one more sample, then stops. */
  end(): void {
    this.#take();
    clearInterval(this.#timer);
  }

  section(startMs: number, endS: number): NonNullable<NonNullable<JudgedRun["watched"]>["processes"]> {
    const { pid, unit } = this.#processes;
    const taken = this.#taken.all;
    const samples = taken.map(({ atMs, cpuS, generation, ...use }, index): WatchedSample => {
      const before = taken[index - 1];
      const sinceS = before === undefined ? 0 : (atMs - before.atMs) / 1_000;
      // The CPU time of processes that have ended is no longer counted.
      const isContinued = before !== undefined && before.generation === generation && cpuS >= before.cpuS;
      const cpuShare = isContinued && sinceS > 0 ? (cpuS - before.cpuS) / sinceS : null;
      return { atS: (atMs - startMs) / 1_000, cpuShare, ...use };
    });
    const own = samples.filter(({ atS }) => atS >= 0);
    return { pid, ...(unit && { unit: { ...unit } }), samples: own, leaks: judgeLeaks(samples, endS) };
  }

  #take(): void {
    const use = this.#processes.read();
    // `undefined`: they have ended, which the missing samples show.
    if (use !== undefined) this.#taken.add({ atMs: Date.now(), ...use });
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }
}
