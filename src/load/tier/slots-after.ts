import type { Observation } from "../../judging/index.ts";
import { limitOf, minPeakInFlight } from "../../limits/index.ts";
import type { JudgedRun } from "../../record/index.ts";
import type { Target } from "../../target/index.ts";
import type { LoadContext } from "../send/run-workload.ts";
import type { Workload } from "../workload/workload.ts";
import { wave } from "./at-concurrency-limit.ts";
import { OwnStalls } from "./judge/own-stalls.ts";
import { TierBench } from "./tier-bench.ts";

/** Time for a gateway to notice the ends of the last requests, also over its replicas, ms. */
const RELEASE_MS = 2_000;

/**
 * Replicas may learn late of what has ended elsewhere, and only when the next request arrives: denied streams are sent once more while
 * the others run, and all of them once more if that does not help.
 */
const AGAIN_MS = 1_500;
const MAX_WAVES = 2;

/** Maximum number of requests of `measureSlots`. */
export const slotRequests = (limit: number): number => limit * 2 * MAX_WAVES;

/**
 * The number of streams that are sent at once after the load, if an event of the workload expects that no slot is leaked: as many
 * requests in flight as the account may have. 0: none.
 */
export function slotsAfter({ events = [] }: Pick<Workload, "events">, { limits }: Pick<Target, "limits">): number {
  const isExpected = events.some(({ expect }) => expect.slotsLeaked === true);
  return isExpected && limits !== undefined && Number.isFinite(limits.inFlight) ? limits.inFlight : 0;
}

/** Sends as many streams as the limit allows, and those that are denied once more. @returns how each of them ended at last. */
async function sendAll(bench: TierBench, limit: number): Promise<Observation[]> {
  const ended: Observation[] = [];
  const first = wave(bench, limit, "wave").map(async (sent) => {
    const one = await sent;
    if (one !== undefined) ended.push(one);
  });
  await bench.wait(AGAIN_MS);
  const denied = ended.filter(isDenied);
  const again = await Promise.all(wave(bench, denied.length, "wave"));
  await Promise.all(first);
  return [...ended.filter((one) => !denied.includes(one)), ...again.filter((one) => one !== undefined)];
}

/** A denial that does not name its limit may be due to the rate limit. */
const isDenied = (one: Observation): boolean => limitOf(one, "rate") === "concurrency";

/** Sends as many streams at once as the account may have in flight, when the load is over: whoever is denied finds a slot taken. */
export async function measureSlots(
  name: string,
  limit: number,
  context: LoadContext,
): Promise<NonNullable<JudgedRun["slots"]>> {
  using own = new OwnStalls();
  const reserved = context.budget.reserve(slotRequests(limit));
  // Not a phase of the run: its figures are those of the load.
  const { onPhase: _phase, onProgress: _progress, onRunning: _running, ...quiet } = context;
  let last: readonly Observation[] = [];
  await using bench = new TierBench(name, { rpm: 0, inFlight: limit }, reserved, quiet);
  try {
    await bench.sender.open(limit);
    await bench.phase(
      { name: "slots", title: "Every slot is free after the load", totalS: 5, laterS: 0, questions: [] },
      async () => {
        for (let waves = 0; waves < MAX_WAVES && (waves === 0 || last.some(isDenied)); waves++) {
          if (!(await bench.wait(RELEASE_MS))) return;
          last = await sendAll(bench, limit);
        }
      },
      () => [],
    );
  } finally {
    const { sent: requests, outputTokens } = bench.guard;
    context.budget.spend(reserved, { requests, outputTokens });
  }
  await bench.sampler.settle();
  const denied = last.filter(isDenied);
  const others = last.filter((one) => one.outcome !== "admitted" && !denied.includes(one));
  return {
    limit,
    sent: last.length,
    admitted: last.filter(({ outcome }) => outcome === "admitted").length,
    denied: denied.length,
    atOnce: minPeakInFlight(last, own.still),
    others: [...new Set(others.map(({ what }) => what))].map((what) => ({
      what,
      count: others.filter((one) => one.what === what).length,
    })),
  };
}
