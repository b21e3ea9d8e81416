import { spawnSync } from "node:child_process";
import { setTimeout as wait } from "node:timers/promises";
import { formatNumber } from "../../core/index.ts";
import type { Limits, Target } from "../../target/index.ts";
import type { Symptom } from "./symptom.ts";

/** A higher p99 timer lag makes latencies doubtful, ms. */
const MAX_LATE_MS = 20;

/** Whether this machine has the open-file limit and the timer precision that a run needs. */
export async function machineSymptoms(target: Target): Promise<Symptom[]> {
  const maxFiles = Math.max(
    64,
    ...[target.limits, ...Object.values(target.tiers).map(({ limits }) => limits)].map((l: Limits | undefined) =>
      l === undefined || !Number.isFinite(l.inFlight) ? 0 : l.inFlight,
    ),
  );
  const files = openFiles();
  const enough = files === undefined || files >= maxFiles + 100;
  const late: number[] = [];
  for (let tick = 0; tick < 100; tick++) {
    const dueMs = performance.now() + 5;
    await wait(5);
    late.push(performance.now() - dueMs);
  }
  const worstMs = late.sort((a, b) => a - b)[98] ?? 0;
  return [
    {
      about: "open files",
      level: enough ? "good" : "bad",
      isOutsideFile: true,
      text:
        files === undefined
          ? "the limit cannot be read on this system"
          : `limit ${Number.isFinite(files) ? formatNumber(files) : "none"}, this target needs ${formatNumber(maxFiles + 100)}`,
      next: enough ? undefined : `ulimit -n ${maxFiles + 1_000}`,
    },
    {
      about: "this machine",
      level: worstMs <= MAX_LATE_MS ? "good" : "note",
      text: `timer lag p99 ${worstMs.toFixed(1)} ms`,
      next:
        worstMs <= MAX_LATE_MS ? undefined : "Latencies below that may come from this machine, not from the gateway.",
    },
  ];
}

/** `undefined` without such a limit, or without a shell to query it. */
function openFiles(): number | undefined {
  if (process.platform === "win32") return undefined;
  const { stdout, status } = spawnSync("sh", ["-c", "ulimit -n"], { encoding: "utf8" });
  if (status !== 0) return undefined;
  return stdout.trim() === "unlimited" ? Number.POSITIVE_INFINITY : Number(stdout);
}
