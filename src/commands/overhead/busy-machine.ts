import { setTimeout as wait } from "node:timers/promises";
import { processorTimes } from "../../core/index.ts";

/** CPU share that others may use before they affect latencies. */
export const MAX_BUSY = 0.75;
const LOOK_MS = 500;

/** Share of this machine's CPUs in use while this program only waits, 0 to 1. */
export async function busyShare(): Promise<number> {
  const before = processorTimes();
  await wait(LOOK_MS);
  const after = processorTimes();
  const all = after.all - before.all;
  return all <= 0 ? 0 : (after.busy - before.busy) / all;
}
