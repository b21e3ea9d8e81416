import { readdirSync, readFileSync } from "node:fs";

/** Clock ticks per second of `/proc/<pid>/stat`: 100 on every Linux that Node runs on. */
const TICKS_PER_S = 100;
const PAGE_BYTES = 4_096;
const SAMPLE_MS = 500;

/** What a process and those that it started used. */
export interface ProcessUse {
  readonly cpuS: number;
  readonly peakMemoryBytes: number;
  readonly peakOpenFiles: number;
}

interface Stat {
  readonly parent: number;
  readonly ticks: number;
  readonly pages: number;
}

/**
 * Watches a process and those that it started, by `/proc`. What a process used that began and ended between two looks is only in
 * the figures of its parent.
 */
export class ProcessWatch implements Disposable {
  readonly #pid: number;
  readonly #timer: NodeJS.Timeout;
  readonly #firstTicks: number;
  #ticks: number;
  #pages = 0;
  #files = 0;

  private constructor(pid: number, firstTicks: number) {
    this.#pid = pid;
    this.#firstTicks = firstTicks;
    this.#ticks = firstTicks;
    this.#timer = setInterval(() => this.#look(), SAMPLE_MS);
    this.#timer.unref();
    this.#look();
  }

  /** @returns nothing where there is no `/proc`, or no such process. */
  static of(pid: number): ProcessWatch | undefined {
    const tree = treeOf(pid);
    return tree.size === 0 ? undefined : new ProcessWatch(pid, ticksOf(tree));
  }

  /** What was used since the watch began. */
  get used(): ProcessUse {
    this.#look();
    return {
      cpuS: Math.max(0, this.#ticks - this.#firstTicks) / TICKS_PER_S,
      peakMemoryBytes: this.#pages * PAGE_BYTES,
      peakOpenFiles: this.#files,
    };
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }

  #look(): void {
    const tree = treeOf(this.#pid);
    this.#ticks = Math.max(this.#ticks, ticksOf(tree));
    let [pages, files] = [0, 0];
    for (const [pid, stat] of tree) {
      pages += stat.pages;
      files += openFilesOf(pid);
    }
    this.#pages = Math.max(this.#pages, pages);
    this.#files = Math.max(this.#files, files);
  }
}

function ticksOf(tree: ReadonlyMap<number, Stat>): number {
  let ticks = 0;
  for (const stat of tree.values()) ticks += stat.ticks;
  return ticks;
}

/** A process and all below it; none where it cannot be read. */
function treeOf(root: number): ReadonlyMap<number, Stat> {
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
    // Another system than Linux.
    return [];
  }
}

/** Fields of proc(5): 4 is the parent, 14 and 15 the CPU time, 24 the memory in pages. The name may hold anything. */
function statOf(pid: number): Stat | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "latin1");
    const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
    const at = (field: number) => Number(fields[field - 3]);
    return { parent: at(4), ticks: at(14) + at(15), pages: at(24) };
  } catch {
    // It has ended since the folder was read.
    return undefined;
  }
}

function openFilesOf(pid: number): number {
  try {
    return readdirSync(`/proc/${pid}/fd`).length;
  } catch {
    // It has ended, or belongs to somebody else.
    return 0;
  }
}
