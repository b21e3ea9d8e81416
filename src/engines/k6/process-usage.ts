import { readFileSync } from "node:fs";

export interface ProcessUsage {
  readonly cpuS: number;
  readonly peakRssBytes: number;
}

/** Clock ticks per second in `/proc`; 100 on every Linux that Node runs on. */
const TICKS_PER_S = 100;

/** What one of our processes has used so far; `undefined` if it has exited, or without `/proc`. */
export function usageOf(pid: number): ProcessUsage | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The name may contain spaces and parentheses: count the fields after the last parenthesis.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    const peak = /VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
    if (peak === undefined) return undefined;
    return { cpuS: (Number(fields[11]) + Number(fields[12])) / TICKS_PER_S, peakRssBytes: Number(peak) * 1_024 };
  } catch {
    // Not Linux, or the process has exited.
    return undefined;
  }
}
