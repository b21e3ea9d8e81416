import { setImmediate } from "node:timers/promises";
import { nowUs } from "../../http/load-client/index.ts";
import type { Limits } from "../../target/index.ts";
import { GeneratorHealth, TIER_BOUNDS } from "../measure/generator-health.ts";
import { runRecord } from "../measure/run-record.ts";
import type { LoadContext, RanLoad } from "../send/run-workload.ts";
import { OwnStalls } from "./judge/own-stalls.ts";
import { retryFigures } from "./judge/retry-figures.ts";
import { TierBench } from "./tier-bench.ts";
import { tierCost } from "./tier-cost.ts";
import type { TierLength, TierParts } from "./tier-phase.ts";
import { phasesOf } from "./tier-phases.ts";
import type { Waves } from "./waves.ts";

export interface TierOptions {
  readonly name: string;
  readonly limits: Limits;
  /** The workload as written, for the record. */
  readonly written: unknown;
  readonly length: TierLength;
  /** Shared with the tiers that run concurrently. */
  readonly waves: Waves;
}

/** Judges an account by its limits, phase by phase. */
export async function runTier(
  { name, limits, written, length, waves }: TierOptions,
  context: LoadContext,
): Promise<RanLoad> {
  using health = new GeneratorHealth();
  using own = new OwnStalls();
  const reserved = context.budget.reserve(tierCost(limits, length).requests);
  await using bench = new TierBench(name, limits, reserved, context, waves);
  const parts: TierParts = {
    ...{ bench, own, length, seed: context.seed },
    waits: { rate: [], concurrency: [] },
    recovery: { waits: [], fleet: undefined, fleetStartUs: 0, fleetEndUs: 0 },
  };
  context.onGauge?.(() => bench.sender.inFlight);
  await bench.sender.open(limits.inFlight + 32);
  const phases = phasesOf(length).map((phase) => ({ ...phase, totalS: phase.cost(limits, length).expectedS }));
  try {
    for (const [at, { name, title, totalS, questions, adaptiveQuestions = [], act, judge }] of phases.entries()) {
      if (bench.stopped) break;
      const laterS = phases.slice(at + 1).reduce((sum, later) => sum + later.totalS, 0);
      await bench.phase(
        { name, title, totalS, laterS, questions: [...questions, ...adaptiveQuestions] },
        () => act(parts),
        (observations) => judge(observations, parts),
      );
    }
  } finally {
    const { sent: requests, outputTokens } = bench.guard;
    context.budget.spend(reserved, { requests, outputTokens });
  }
  await bench.sampler.settle();
  await waves.waitUntilIdle();
  const { waits, recovery } = parts;
  const retryAfter = retryFigures(bench.observations, [...waits.rate, ...waits.concurrency], recovery, bench.originUs);
  await setImmediate();
  const generator = health.close(
    bench.lag,
    { connectionWaits: bench.sender.waits, workers: 0, calibration: context.calibration },
    TIER_BOUNDS,
  );
  const { stop } = bench.guard;
  const run = runRecord({
    name,
    kind: "tier",
    length,
    engine: "native",
    protocol: bench.sender.protocol,
    phases: bench.phases,
    stopped: stop !== undefined ? [`stopped early: ${stop.why}`] : bench.stopped ? ["interrupted"] : [],
    limits,
    keys: context.keys.map((key) => key.name),
    workload: written,
    startedAtMs: bench.startedAt.getTime(),
    durationS: (nowUs() - bench.originUs) / 1_000_000,
    retryAfter,
    generator,
  });
  return { run, histograms: bench.histograms };
}
