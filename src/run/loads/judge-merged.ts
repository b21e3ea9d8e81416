import type { Merged, RanInstance } from "../../engines/index.ts";
import { judgeExternal, type LoadPlan, type LoadStop, type RanLoad, type Workload } from "../../load/index.ts";
import type { Limits, Target } from "../../target/index.ts";
import { generatorOf } from "./generator-of.ts";

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
