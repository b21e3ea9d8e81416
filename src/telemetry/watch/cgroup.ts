import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type TreeUse, useOf } from "./process-tree.ts";

/** Maximum number of groups below a group that are read. */
const MAX_GROUPS = 1_000;

/**
 * The resources of a control group from its own files, which include ended processes and child groups. If a controller is not
 * enabled for the group, the values of its processes are added up.
 *
 * @param folder of a control group, version 2.
 * @returns `undefined` when no process runs in it, or when it no longer exists.
 * @see https://docs.kernel.org/admin-guide/cgroup-v2.html
 */
export function cgroupUse(folder: string): TreeUse | undefined {
  const pids = pidsOf(folder);
  if (pids.length === 0) return undefined;
  const summed = useOf(pids);
  const usedUs = fieldOf(folder, "cpu.stat", "usage_usec");
  return {
    cpuS: usedUs === undefined ? summed.cpuS : usedUs / 1_000_000,
    memoryBytes: memoryOf(folder) ?? summed.memoryBytes,
    openFiles: summed.openFiles,
    threads: numberIn(folder, "pids.current") ?? summed.threads,
  };
}

/** Whether a folder is a control group of version 2. */
export function isCgroup(folder: string): boolean {
  return textIn(folder, "cgroup.procs") !== undefined && textIn(folder, "cpu.stat") !== undefined;
}

/** Processes of a control group and of those below it. */
export function pidsOf(folder: string): number[] {
  const pids: number[] = [];
  const waiting = [folder];
  for (let looked = 0; looked < MAX_GROUPS; looked++) {
    const group = waiting.pop();
    if (group === undefined) break;
    const lines = (textIn(group, "cgroup.procs") ?? "").split("\n");
    pids.push(...lines.filter((line) => /^[1-9]\d*$/.test(line)).map(Number));
    waiting.push(...foldersIn(group));
  }
  return pids;
}

/** Mount point of control groups version 2; `undefined` on a system without them. */
export function cgroupRoot(): string | undefined {
  const lines = (textIn("/proc/self", "mounts") ?? "").split("\n");
  const mount = lines.map((line) => line.split(" ")).find(([, , type]) => type === "cgroup2");
  return mount?.[1];
}

/**
 * Without inactive page cache, which can be reclaimed at any time: a service that writes a log would otherwise seem to leak
 * memory.
 */
function memoryOf(folder: string): number | undefined {
  const all = numberIn(folder, "memory.current");
  if (all === undefined) return undefined;
  return Math.max(0, all - (fieldOf(folder, "memory.stat", "inactive_file") ?? 0));
}

function fieldOf(folder: string, file: string, field: string): number | undefined {
  const line = textIn(folder, file)
    ?.split("\n")
    .find((one) => one.startsWith(`${field} `));
  return line === undefined ? undefined : wholeNumber(line.slice(field.length + 1));
}

function numberIn(folder: string, file: string): number | undefined {
  return wholeNumber(textIn(folder, file) ?? "");
}

function wholeNumber(text: string): number | undefined {
  return /^\d+$/.test(text.trim()) ? Number(text) : undefined;
}

function textIn(folder: string, file: string): string | undefined {
  try {
    return readFileSync(join(folder, file), "latin1");
  } catch {
    // Missing: the group has ended, or its controller is disabled.
    return undefined;
  }
}

function foldersIn(folder: string): string[] {
  try {
    const entries = readdirSync(folder, { withFileTypes: true });
    return entries.filter((entry) => entry.isDirectory()).map(({ name }) => join(folder, name));
  } catch {
    // It ended after it was listed.
    return [];
  }
}
