import { readdirSync, readFileSync } from "node:fs";
import { UsageError } from "../../core/index.ts";

/** Clock ticks per second of `/proc/<pid>/stat`: 100 on every Linux that Node runs on. */
export const TICKS_PER_S = 100;
const PAGE_BYTES = 4_096;
const SAMPLE_MS = 500;

/** Resources used by a process and its descendants. */
export interface ProcessUse {
  readonly cpuS: number;
  readonly peakMemoryBytes: number;
  readonly peakOpenFiles: number;
}

/** Resources held by a process and its descendants at one moment. */
export interface TreeUse {
  /** Since they started. */
  readonly cpuS: number;
  readonly memoryBytes: number;
  /** `null` for processes of another user, which may not be read. */
  readonly openFiles: number | null;
  readonly threads: number;
  /** Changes when processes ended or were replaced, so that `cpuS` does not continue that of the previous sample. */
  readonly generation?: number;
}

/** @returns `undefined` without `/proc`, or without such a process. */
export function treeUse(pid: number): TreeUse | undefined {
  const tree = treeOf(pid);
  return tree.size === 0 ? undefined : sumOf(tree);
}

/** Processes of the target, however they are found. */
export interface WatchedProcesses {
  /** The first of them. */
  readonly pid: number;
  /** For a systemd unit: its name, and the folder of its control group. */
  readonly unit?: { readonly name: string; readonly cgroup: string };
  /** Current resources; `undefined` when none of them is running any more. */
  readonly read: () => TreeUse | undefined;
}

/**
 * A process and its descendants.
 *
 * @throws UsageError when the process cannot be read.
 */
export function processTree(pid: number): WatchedProcesses {
  if (treeUse(pid) === undefined)
    throw new UsageError(`--watch-pid: no process ${pid} can be read here`, {
      hint: "Name a process of this machine (Linux) that is running, and that you may read.",
    });
  return { pid, read: () => treeUse(pid) };
}

/** The total of several processes; ended ones count as zero. */
export function useOf(pids: Iterable<number>): TreeUse {
  const stats = new Map<number, Stat>();
  for (const pid of pids) {
    const stat = statOf(pid);
    if (stat !== undefined) stats.set(pid, stat);
  }
  return sumOf(stats);
}

export function sumOf(stats: ReadonlyMap<number, Stat>): TreeUse {
  let [ticks, pages, threads] = [0, 0, 0];
  let openFiles: number | null = null;
  for (const [pid, stat] of stats) {
    ticks += stat.ticks;
    pages += stat.pages;
    threads += stat.threads;
    const own = openFilesOf(pid);
    if (own !== undefined) openFiles = (openFiles ?? 0) + own;
  }
  return { cpuS: ticks / TICKS_PER_S, memoryBytes: pages * PAGE_BYTES, openFiles, threads };
}

/** One process, from `/proc/<pid>/stat`. */
export interface Stat {
  /** Clock ticks from boot to the start of the process: a pid with a different start time is a different process. */
  readonly started: number;
  readonly parent: number;
  readonly ticks: number;
  readonly pages: number;
  readonly threads: number;
}

/**
 * Watches a process and its descendants through `/proc`. A process that starts and ends between two samples is only counted
 * through its parent.
 */
export class ProcessWatch implements Disposable {
  readonly #pid: number;
  readonly #timer: NodeJS.Timeout;
  readonly #firstS: number;
  #cpuS: number;
  #memoryBytes = 0;
  #files = 0;

  private constructor(pid: number, firstS: number) {
    this.#pid = pid;
    this.#firstS = firstS;
    this.#cpuS = firstS;
    this.#timer = setInterval(() => this.#look(), SAMPLE_MS);
    this.#timer.unref();
    this.#look();
  }

  /** @returns `undefined` without `/proc`, or without such a process. */
  static of(pid: number): ProcessWatch | undefined {
    const use = treeUse(pid);
    return use === undefined ? undefined : new ProcessWatch(pid, use.cpuS);
  }

  /** Usage since the watch began. */
  get used(): ProcessUse {
    this.#look();
    return {
      cpuS: Math.max(0, this.#cpuS - this.#firstS),
      peakMemoryBytes: this.#memoryBytes,
      peakOpenFiles: this.#files,
    };
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }

  #look(): void {
    const use = treeUse(this.#pid);
    if (use === undefined) return;
    this.#cpuS = Math.max(this.#cpuS, use.cpuS);
    this.#memoryBytes = Math.max(this.#memoryBytes, use.memoryBytes);
    this.#files = Math.max(this.#files, use.openFiles ?? 0);
  }
}

/** A process and its descendants; empty if it cannot be read. */
export function treeOf(root: number): ReadonlyMap<number, Stat> {
  const all = new Map<number, Stat>();
  for (const pid of processes()) {
    const stat = statOf(pid);
    if (stat !== undefined) all.set(pid, stat);
  }
  const tree = new Map<number, Stat>();
  const waiting = [root];
  for (let pid = waiting.pop(); pid !== undefined; pid = waiting.pop()) {
    const stat = all.get(pid);
    if (stat === undefined || tree.has(pid)) continue;
    tree.set(pid, stat);
    for (const [child, { parent }] of all) if (parent === pid) waiting.push(child);
  }
  return tree;
}

function processes(): number[] {
  try {
    return readdirSync("/proc")
      .filter((name) => /^\d+$/.test(name))
      .map(Number);
  } catch {
    // Not Linux.
    return [];
  }
}

/**
 * Fields of proc(5): 4 is the parent, 14 and 15 the CPU time, 20 the threads, 22 the start, 24 the memory in pages. The name may contain
 * anything.
 */
function statOf(pid: number): Stat | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "latin1");
    const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
    const at = (field: number) => Number(fields[field - 3]);
    return { parent: at(4), started: at(22), ticks: at(14) + at(15), pages: at(24), threads: at(20) };
  } catch {
    // It ended after the folder was read.
    return undefined;
  }
}

function openFilesOf(pid: number): number | undefined {
  try {
    return readdirSync(`/proc/${pid}/fd`).length;
  } catch {
    // It has ended, or belongs to another user.
    return undefined;
  }
}
