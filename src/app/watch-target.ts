import { sleep, UsageError } from "../core/index.ts";
import { judgeLeaks } from "../load/index.ts";
import type { JudgedLoad, JudgedRun, WatchedSample } from "../record/index.ts";
import { type TreeUse, treeUse } from "./process-tree.ts";

const SAMPLE_MS = 1_000;
/** How long the target has to give back what it took for the load. */
const AFTER_MS = 3_000;

/** Watches the processes of a target that runs on this machine, a sample each second. */
export class TargetWatch implements Disposable {
  readonly #pid: number;
  readonly #timer: NodeJS.Timeout;
  readonly #taken: (TreeUse & { readonly atMs: number })[] = [];

  /** @throws UsageError when no such process can be read. */
  constructor(pid: number) {
    if (treeUse(pid) === undefined)
      throw new UsageError(`--watch-pid: no process ${pid} can be read here`, {
        hint: "Name a process of this machine (Linux) that is running, and that you may read.",
      });
    this.#pid = pid;
    this.#timer = setInterval(() => this.#take(), SAMPLE_MS);
    this.#take();
  }

  /** Goes on for a while after the load, and adds what was seen to each of its runs. */
  async finish(section: JudgedLoad, signal: AbortSignal): Promise<JudgedLoad> {
    await sleep(AFTER_MS, signal);
    this.#take();
    clearInterval(this.#timer);
    return { runs: section.runs.map((run) => this.#added(run)) };
  }

  #added(run: JudgedRun): JudgedRun {
    const startMs = Date.parse(run.startedAt);
    const samples = this.#taken.map(({ atMs, cpuS, ...use }, index): WatchedSample => {
      const before = this.#taken[index - 1];
      const sinceS = before === undefined ? 0 : (atMs - before.atMs) / 1_000;
      const cpuShare = before === undefined || sinceS <= 0 ? null : Math.max(0, cpuS - before.cpuS) / sinceS;
      return { atS: (atMs - startMs) / 1_000, cpuShare, ...use };
    });
    const own = samples.filter(({ atS }) => atS >= 0);
    return { ...run, watched: { pid: this.#pid, samples: own, leaks: judgeLeaks(samples, run.durationS) } };
  }

  #take(): void {
    const use = treeUse(this.#pid);
    // It has ended: that there are no more samples says so.
    if (use !== undefined) this.#taken.push({ atMs: Date.now(), ...use });
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }
}
