import { readFileSync } from "node:fs";
import { type Running, startGauntlet } from "../support/gauntlet.ts";

export interface Watched {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly seconds: number;
  /** Maximum resident memory as the kernel counts it, MiB; `undefined` if it cannot be read from outside. */
  readonly peakMib: number | undefined;
  /** It was killed because it exceeded the time limit. */
  readonly overTime: boolean;
  /** From SIGTERM to its exit, ms; `undefined` if it ended before. */
  readonly stopMs: number | undefined;
}

export interface WatchOptions {
  /** It is killed after this. */
  readonly boundS: number;
  /** When SIGTERM is sent; default never. */
  readonly stopAfterMs?: number | undefined;
}

/** How often the kernel's figure is read, ms. It is a high-water mark: only a rise in the last moment is missed. */
const POLL_INTERVAL_MS = 25;

/** Runs the built command line to its end or to a time limit, and watches its memory from outside. */
export async function watched(
  args: readonly string[],
  environment: Record<string, string>,
  cwd: string,
  { boundS, stopAfterMs }: WatchOptions,
): Promise<Watched> {
  const startedMs = performance.now();
  await using running: Running = startGauntlet(args, environment, cwd);
  const { child, finished } = running;
  let peakMib: number | undefined;
  const looking = setInterval(() => {
    peakMib = Math.max(peakMib ?? 0, highWaterMib(child.pid) ?? 0) || undefined;
  }, POLL_INTERVAL_MS);
  let overTime = false;
  const deadline = setTimeout(() => {
    overTime = true;
    child.kill("SIGKILL");
  }, boundS * 1_000);
  let signalledMs: number | undefined;
  const stopping =
    stopAfterMs === undefined
      ? undefined
      : setTimeout(() => {
          signalledMs = performance.now();
          child.kill("SIGTERM");
        }, stopAfterMs);
  const { code, stdout, stderr } = await finished;
  clearTimeout(stopping);
  const stopMs = signalledMs === undefined ? undefined : performance.now() - signalledMs;
  clearInterval(looking);
  clearTimeout(deadline);
  const seconds = (performance.now() - startedMs) / 1_000;
  return { code, signal: child.signalCode, stdout, stderr, seconds, peakMib, overTime, stopMs };
}

function highWaterMib(pid: number | undefined): number | undefined {
  try {
    const found = /^VmHWM:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, "latin1"));
    return found === null ? undefined : Number(found[1]) / 1024;
  } catch {
    // Already ended, or a system without /proc.
    return undefined;
  }
}
