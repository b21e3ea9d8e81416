import { UsageError } from "../../core/index.ts";
import { type TreeUse, treeUse } from "./process-tree.ts";

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
