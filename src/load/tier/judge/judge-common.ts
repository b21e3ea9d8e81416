import type { Observation } from "../../../judging/index.ts";
import type { Finding } from "../../../record/index.ts";
import type { TierParts } from "../tier-phase.ts";
import { judgeDenials } from "./judge-denials.ts";
import type { LatencyJudged } from "./judge-latency.ts";
import { judgeService } from "./judge-service.ts";

/** Findings that need the whole run. */
export const RARE: readonly string[] = ["latency.stalls", "service.failed", "service.cut"];

/** Judges what all phases have in common. */
export function* judgeCommon(
  observations: readonly Observation[],
  { bench, own }: Pick<TierParts, "bench" | "own">,
): Iterable<readonly Finding[]> {
  // A kind that is rejected as such was judged once, in the warm-up.
  yield judgeDenials(
    observations.filter((one) => !bench.refuses(one)),
    bench.target,
  );
  yield judgeService(observations, bench.long, own);
}

/** What latencies are compared with, and which delays were ours. */
export function latencyOf({ bench, own }: Pick<TierParts, "bench" | "own">): LatencyJudged {
  return { all: bench.observations, heldUp: own, originUs: bench.originUs };
}
