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
 * The number of streams that are sent at once after the load, if an event of the workload expects that no slot is leaked: as many
 * requests in flight as the account may have. 0: none.
 */
export function slotsAfter({ events = [] }: Pick<Workload, "events">, { limits }: Pick<Target, "limits">): number {
  const isExpected = events.some(({ expect }) => expect.slotsLeaked === true);
  return isExpected && limits !== undefined && Number.isFinite(limits.inFlight) ? limits.inFlight : 0;
}

/** Sends as many streams at once as the account may have in flight, when the load is over: whoever is denied finds a slot taken. */
export async function measureSlots(
  name: string,
  limit: number,
  context: LoadContext,
): Promise<NonNullable<JudgedRun["slots"]>> {
  using own = new OwnStalls();
  const reserved = context.budget.reserve(limit);
  // Not a phase of the run: its figures are those of the load.
  const { onPhase: _phase, onProgress: _progress, onRunning: _running, ...quiet } = context;
  await using bench = new TierBench(name, { rpm: 0, inFlight: limit }, reserved, quiet);
  try {
    await bench.sender.open(limit);
    await bench.phase(
      { name: "slots", title: "Every slot is free after the load", totalS: 5, laterS: 0, questions: [] },
      async () => {
        await bench.wait(RELEASE_MS);
        await Promise.all(wave(bench, limit, "wave"));
      },
      () => [],
    );
  } finally {
    const { sent: requests, outputTokens } = bench.guard;
    context.budget.spend(reserved, { requests, outputTokens });
  }
  await bench.sampler.settle();
  const { observations } = bench;
  // A denial that does not name its limit may be due to the rate limit.
  const denied = observations.filter((one) => limitOf(one, "rate") === "concurrency");
  const others = observations.filter((one) => one.outcome !== "admitted" && !denied.includes(one));
  return {
    limit,
    sent: observations.length,
    admitted: observations.filter(({ outcome }) => outcome === "admitted").length,
    denied: denied.length,
    atOnce: minPeakInFlight(observations, own.still),
    others: [...new Set(others.map(({ what }) => what))].map((what) => ({
      what,
      count: others.filter((one) => one.what === what).length,
    })),
  };
}
