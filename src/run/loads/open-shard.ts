import { sleep } from "../../core/index.ts";
import type { ClockOffset } from "../../engines/index.ts";
import { type ShardHead, type Workload, workloadSha256 } from "../../load/index.ts";
import type { Target } from "../../target/index.ts";
import type { RunControl } from "../control/index.ts";
import { measureClock, wallMs } from "./measure-clock.ts";
import type { ShardRequest } from "./shard-options.ts";

/** A share that is about to be sent. */
export interface OpenShard {
  readonly head: ShardHead;
  /** Common start on the clock of `nowUs`. */
  readonly startUs: number;
  /** Why it may not begin with the others, in words. */
  readonly problems: readonly string[];
}

/** With a larger clock uncertainty, shards cannot start together, ms. */
const CLOCK_MS = 100;
/** Connections are opened this long before the start, ms: a server may close idle ones. */
const AHEAD_MS = 1_500;
const SEED_RANGE = 2 ** 31 - 1;

/** Derived from the workload: all shards need the same seed without knowing each other. */
export function sharedSeed(workload: Workload): number {
  return Number.parseInt(workloadSha256(workload).slice(0, 12), 16) % SEED_RANGE;
}

/** Measures the clock by which the shards begin. Sends a few HEAD requests to the time source. */
export async function openShard(
  { index, of, startAtMs, timeSource }: ShardRequest,
  { workload, target, control }: { readonly workload: Workload; readonly target: Target; readonly control: RunControl },
): Promise<OpenShard> {
  const source = timeSource ?? new URL("/", target.baseUrl).href;
  control.onProgress({ kind: "step", text: `measuring the clock against ${source}` });
  const clock = await measureClock(source, control.interruption.signal);
  const { offsetMs, uncertaintyMs } = clock ?? { offsetMs: null, uncertaintyMs: null };
  return {
    head: {
      index,
      of,
      startAt: new Date(startAtMs).toISOString(),
      workload: workload.name,
      workloadSha256: workloadSha256(workload),
      timeSource: source,
      clockOffsetMs: offsetMs,
      clockUncertaintyMs: uncertaintyMs,
    },
    startUs: (startAtMs - (offsetMs ?? 0) - performance.timeOrigin) * 1_000,
    problems: clockProblems(clock, source),
  };
}

function clockProblems(clock: ClockOffset | undefined, source: string): string[] {
  if (clock === undefined)
    return [`its clock is unknown, because ${source} sends no Date header; --time-source names another server`];
  const { uncertaintyMs } = clock;
  return uncertaintyMs <= CLOCK_MS
    ? []
    : [
        `its clock is only known to within ${uncertaintyMs.toFixed(0)} ms, limit ${CLOCK_MS} ms; name a nearer server with --time-source`,
      ];
}

/** Waits until it is time to open connections. */
export async function waitForStart(
  { startUs, head }: OpenShard,
  { interruption, onProgress }: RunControl,
): Promise<void> {
  const waitMs = startUs / 1_000 + performance.timeOrigin - wallMs();
  if (waitMs <= AHEAD_MS) return;
  onProgress({ kind: "step", text: `shard ${head.index}/${head.of} begins at ${head.startAt}`, leftS: waitMs / 1_000 });
  await sleep(waitMs - AHEAD_MS, interruption.signal);
}
