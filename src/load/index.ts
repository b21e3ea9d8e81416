export { type Capacity, type CapacityStep, findCapacity, HOLD_S } from "./analysis/capacity/find-capacity.ts";
export type { FrontierPoint } from "./analysis/capacity/frontier.ts";
export { assertMeasurable, parseObjective } from "./analysis/capacity/objective.ts";
export { analyseLimits, defaultLimitsPlan, type LimitsAnalysis } from "./analysis/limits/analyse-limits.ts";
export { type DurationOf, type Sizing, sizeWorkload } from "./analysis/size/size-workload.ts";
export { assertReachable } from "./assert-reachable.ts";
export { type Calibration, calibrate, problemsOf } from "./calibration/calibrate.ts";
export { costOf } from "./cost.ts";
export { judgeExternal } from "./external/judge-external.ts";
export type { LoadPlan } from "./external/phase-plan.ts";
export { planTier } from "./external/plan-tier.ts";
export { planWorkload } from "./external/plan-workload.ts";
export { CALIBRATED_BOUNDS, DEFAULT_BOUNDS, TIER_BOUNDS } from "./generator-health.ts";
export { nowUs } from "./http/load-exchange.ts";
export { type HeldGauge, judgeGauge, judgeLeaks } from "./judge-leaks.ts";
export { guardOver, type LoadGuard, type LoadStop } from "./load-guard.ts";
export { LoopDelay } from "./loop-delay.ts";
export { type FoundShard, mergeShards } from "./merge-shards.ts";
export { type LoadRequestSpec, modelFor } from "./prepared-requests.ts";
export type { LoadProgress, RunningPhase } from "./progress.ts";
export { type BlockTimes, RequestLane } from "./request-lane.ts";
export type { RequestSpan } from "./request-span.ts";
export { DEFAULT_RETRY } from "./retry-rules.ts";
export { runPeak } from "./run-peak.ts";
export { type LoadContext, type RanLoad, runWorkload, type ShardPart } from "./run-workload.ts";
export type { Sample } from "./sampler.ts";
export { planOf } from "./schedule.ts";
export { boundOf, circuitRule } from "./send-share.ts";
export { servedWorkload } from "./served-workload.ts";
export {
  parseShardFile,
  SHARD_FILE,
  type ShardFile,
  type ShardHead,
  shardHeadSchema,
  workloadSha256,
  writeShardFile,
} from "./shard-file.ts";
export { shareValidity } from "./share-validity.ts";
export { assertDecidableByTotals, endIfCrossed, withThresholds } from "./thresholds.ts";
export { accountOf } from "./tier/account-of.ts";
export { runTier } from "./tier/run-tier.ts";
export type { TierLength } from "./tier/tier-cost.ts";
export { boundedBy, parseUntil, type Until } from "./until.ts";
export { DEFAULT_ALLOW, loadWorkload, shortClass, type Workload, workloadJsonSchema } from "./workload.ts";
