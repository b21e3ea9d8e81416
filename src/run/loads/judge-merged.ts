import type { Merged, RanInstance } from "../../engines/index.ts";
import {
  DEFAULT_BOUNDS,
  judgeExternal,
  type LoadPlan,
  type LoadStop,
  type RanLoad,
  TIER_BOUNDS,
  type Workload,
} from "../../load/index.ts";
import type { LoadGenerator } from "../../record/index.ts";
import type { Limits, Target } from "../../target/index.ts";

interface Played {
  readonly plan: LoadPlan;
  readonly limits: Limits | null;
  /** Names of the keys. */
  readonly keys: readonly string[];
}

/** The record of what k6 sent. */
export function judgeMerged(
  workload: Pick<Workload, "name" | "written" | "retryAfter" | "allow">,
  { plan, limits, keys }: Played,
  target: Target,
  merged: Merged,
  more: { readonly ran: readonly RanInstance[]; readonly interrupted: boolean; readonly stop?: LoadStop | undefined },
): RanLoad {
  const durationS = merged.observations.reduce((last, { endUs }) => Math.max(last, endUs), 0) / 1_000_000;
  return judgeExternal({
    workload,
    limits,
    target,
    plan,
    observations: merged.observations,
    dropped: merged.dropped,
    engine: "k6",
    instances: merged.instances,
    generator: generatorOf(merged, limits !== null, more.ran, durationS),
    keys,
    startedAtMs: merged.startedAtMs,
    interrupted: more.interrupted,
    stop: more.stop,
  });
}

/** Instances that started further apart did not offer one common schedule, ms. */
const SKEW_MS = 1_000;

/** With a larger clock uncertainty, clocks cannot be aligned, ms. */
const CLOCK_MS = 250;

/**
 * What is known about k6 as a generator. It does not have our event loop, and its dropped iterations mean that it ran out of
 * virtual users.
 */
function generatorOf(merged: Merged, isTier: boolean, ran: readonly RanInstance[], durationS: number): LoadGenerator {
  const { scheduleLagMs, skewMs, dropped, instances } = merged;
  const bounds = isTier ? TIER_BOUNDS : DEFAULT_BOUNDS;
  const problems: string[] = [];
  if (scheduleLagMs.p99 > bounds.scheduleLagP99Ms)
    problems.push(`sends were late: p99 ${scheduleLagMs.p99.toFixed(1)} ms, limit ${bounds.scheduleLagP99Ms} ms`);
  if (skewMs > SKEW_MS)
    problems.push(`the instances began ${(skewMs / 1_000).toFixed(1)} s apart, limit ${SKEW_MS / 1_000} s`);
  const lost = [...dropped.values()].reduce((sum, count) => sum + count, 0);
  if (lost > 0) problems.push(`${lost} arrivals were dropped: no virtual user of k6 was free`);
  const vague = instances.filter(
    ({ clockUncertaintyMs }) => clockUncertaintyMs !== null && clockUncertaintyMs > CLOCK_MS,
  );
  for (const { name, clockUncertaintyMs } of vague)
    problems.push(
      `the clock of ${name} is only known to within ${Math.round(clockUncertaintyMs ?? 0)} ms, limit ${CLOCK_MS} ms`,
    );
  const usages = ran.flatMap(({ usage }) => usage ?? []);
  const cpuS = usages.reduce((sum, usage) => sum + usage.cpuS, 0);
  return {
    valid: problems.length === 0,
    problems,
    scheduleLagMs,
    loopDelayMs: null,
    cpuS,
    cpuShare: durationS <= 0 ? 0 : cpuS / durationS,
    peakRssBytes: usages.reduce((sum, usage) => sum + usage.peakRssBytes, 0),
    connectionWaits: 0,
    workers: instances.length,
    calibration: null,
  };
}
