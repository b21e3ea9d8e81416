import { accessSync, constants, existsSync, readFileSync, statSync } from "node:fs";
import { dirname, relative } from "node:path";
import { ConfigError, type ConfigProblem, fileProblem } from "../../core/index.ts";
import type { WatchedLogs } from "./log-samples.ts";
import { type Stat, sumOf, TICKS_PER_S, type TreeUse, treeOf, type WatchedProcesses } from "./process-tree.ts";

/** What a target file says about the gateway on this machine. */
export interface DeclaredProcesses {
  /** The target file. */
  readonly source: string;
  /** Absolute paths. */
  readonly pidFiles: readonly string[];
  readonly logs: readonly string[];
}

/** Whether processes can be sampled on this machine. */
export const hasProc = (): boolean => existsSync("/proc/self/stat");

/**
 * The processes and logs that a target file declares.
 *
 * @returns no processes on a machine without `/proc`.
 * @throws ConfigError with every pid file and log that cannot be used.
 */
export function declaredProcesses({ source, pidFiles, logs }: DeclaredProcesses): {
  readonly processes: WatchedProcesses | undefined;
  readonly logs: WatchedLogs | undefined;
} {
  const isSampled = hasProc();
  const problems: ConfigProblem[] = [];
  for (const [index, file] of isSampled ? pidFiles.entries() : []) {
    const problem = pidProblem(file);
    if (problem !== undefined)
      problems.push({
        file: source,
        path: `processes.pidFiles.${index}`,
        message: problem,
        hint: "Start the gateway first, and name the file in which it keeps its process id.",
      });
  }
  for (const [index, file] of logs.entries()) {
    const problem = logProblem(file);
    if (problem !== undefined)
      problems.push({
        file: source,
        path: `processes.logs.${index}`,
        message: problem,
        hint: "Name a log file that the gateway has already created, and that you may read.",
      });
  }
  if (problems.length > 0) throw new ConfigError(problems);
  return {
    processes: isSampled && pidFiles.length > 0 ? new Declared(pidFiles) : undefined,
    logs: logs.length === 0 ? undefined : { names: logs.map((file) => relative(dirname(source), file)), files: logs },
  };
}

function pidProblem(file: string): string | undefined {
  const text = textOf(file);
  if (typeof text !== "string") return `${file} cannot be read: ${text.problem}.`;
  const pid = pidIn(text);
  if (pid === undefined) return `${file} does not contain a process id.`;
  return treeOf(pid).size === 0 ? `${file}: no process ${pid} is running.` : undefined;
}

function logProblem(file: string): string | undefined {
  try {
    accessSync(file, constants.R_OK);
    return statSync(file).isFile() ? undefined : `${file} is not a file.`;
  } catch (error) {
    return `${file} cannot be read: ${fileProblem(error)}.`;
  }
}

function textOf(file: string): string | { readonly problem: string } {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    return { problem: fileProblem(error) };
  }
}

/** 0 and 1 are this process's group and the first process of the system. */
function pidIn(text: string): number | undefined {
  const pid = /^\s*\d{1,10}\s*$/.test(text) ? Number(text) : 0;
  return pid < 2 ? undefined : pid;
}

/** Processes by the files with their ids, which are read at each sample: a gateway may be restarted meanwhile. */
class Declared implements WatchedProcesses {
  readonly pid: number;
  readonly #pidFiles: readonly string[];
  /** The process of each file, by id and start. */
  readonly #roots = new Map<string, string | undefined>();
  /** CPU time of each process at the previous sample, ticks. */
  #ticks = new Map<string, number>();
  #usedTicks = 0;
  #generation = 0;

  constructor(pidFiles: readonly string[]) {
    this.#pidFiles = pidFiles;
    this.pid = pidOf(pidFiles[0] ?? "") ?? 0;
  }

  read(): TreeUse | undefined {
    const all = new Map<number, Stat>();
    for (const file of this.#pidFiles) {
      const pid = pidOf(file);
      const tree = pid === undefined ? new Map<number, Stat>() : treeOf(pid);
      const root = pid === undefined ? undefined : tree.get(pid);
      const name = root && nameOf(pid ?? 0, root);
      if (this.#roots.has(file) && (name === undefined || this.#roots.get(file) !== name)) this.#generation++;
      this.#roots.set(file, name);
      for (const [id, stat] of tree) all.set(id, stat);
    }
    const ticks = new Map([...all].map(([id, stat]) => [nameOf(id, stat), stat.ticks]));
    // A child that has ended keeps what it had used; a new one has used everything since the last sample.
    for (const [name, used] of ticks) this.#usedTicks += used - (this.#ticks.get(name) ?? 0);
    this.#ticks = ticks;
    if (all.size === 0) return undefined;
    return { ...sumOf(all), cpuS: this.#usedTicks / TICKS_PER_S, generation: this.#generation };
  }
}

function pidOf(file: string): number | undefined {
  const text = textOf(file);
  return typeof text === "string" ? pidIn(text) : undefined;
}

const nameOf = (pid: number, { started }: Stat): string => `${pid} ${started}`;
