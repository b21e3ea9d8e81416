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
 * Replicas may learn late of what has ended at the others, and only when the next request arrives: some streams are sent this long
 * before the rest, and those of them that are denied are sent again. The rest are sent only once: on a second attempt, a replica without leaked capacity might admit what another one denied.
 */
const EARLY_STREAMS = 4;
const EARLY_MS = 1_500;
/** Maximum number of times that all streams are sent: a second time only if one was denied. */
const MAX_WAVES = 2;

/** Maximum number of requests of `sendStreamsAfterLoad`. */
export const requestsAfterLoad = (limit: number): number => (limit + Math.min(EARLY_STREAMS, limit)) * MAX_WAVES;

/**
 * The number of concurrent streams that are sent after the load, if an event of the workload expects that no capacity has leaked: as many
 * requests in flight as the account may have. 0: none.
 */
export function streamsAfterLoad(
  { events = [] }: Pick<Workload, "events">,
  { limits }: Pick<Target, "limits">,
): number {
  const isExpected = events.some(({ expect }) => expect.capacityLeaked === 0);
  return isExpected && limits !== undefined && Number.isFinite(limits.inFlight) ? limits.inFlight : 0;
}

/** Sends as many streams as the limit allows. @returns how each of them ended, apart from early ones that were denied. */
async function sendAll(bench: TierBench, limit: number): Promise<Observation[]> {
  const ended: Observation[] = [];
  const early = wave(bench, Math.min(EARLY_STREAMS, limit), "wave").map(async (sent) => {
    const one = await sent;
    if (one !== undefined) ended.push(one);
  });
  await bench.wait(EARLY_MS);
  const denied = ended.filter(isDenied);
  const rest = await Promise.all(wave(bench, limit - early.length + denied.length, "wave"));
  await Promise.all(early);
  return [...ended.filter((one) => !denied.includes(one)), ...rest.filter((one) => one !== undefined)];
}

/** A denial that does not name its limit may be due to the rate limit. */
const isDenied = (one: Observation): boolean => limitOf(one, "rate") === "concurrency";

/** After the load, opens as many streams as the account may have in flight: a denied stream means that capacity has leaked. */
export async function sendStreamsAfterLoad(
  name: string,
  limit: number,
  context: LoadContext,
): Promise<NonNullable<JudgedRun["afterLoad"]>> {
  using own = new OwnStalls();
  const reserved = context.budget.reserve(requestsAfterLoad(limit));
  // Not a phase of the run: its figures are those of the load.
  const { onPhase: _phase, onProgress: _progress, onRunning: _running, ...quiet } = context;
  let last: readonly Observation[] = [];
  await using bench = new TierBench(name, { rpm: 0, inFlight: limit }, reserved, quiet);
  try {
    await bench.sender.open(limit);
    await bench.phase(
      { name: "after-load", title: "No capacity has leaked", totalS: 5, laterS: 0, questions: [] },
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
    atOnce: minPeakInFlight(last, own.stalledSpans),
    others: [...new Set(others.map(({ what }) => what))].map((what) => ({
      what,
      count: others.filter((one) => one.what === what).length,
    })),
  };
}
