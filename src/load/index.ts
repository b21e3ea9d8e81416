export { nowUs } from "../http/load-client/index.ts";
export { beyondLimit } from "./analysis/beyond-limit.ts";
export { type Capacity, type CapacityStep, findCapacity } from "./analysis/capacity/find-capacity.ts";
export type { FrontierPoint } from "./analysis/capacity/frontier.ts";
export { assertMeasurable, parseObjective } from "./analysis/capacity/objective.ts";
export { HOLD_S, type SearchRange, searchSeconds } from "./analysis/capacity/search-time.ts";
export { type HeldGauge, judgeGauge, judgeLeaks } from "./analysis/judge-leaks.ts";
export { analyseLimits, defaultLimitsPlan, type LimitsAnalysis } from "./analysis/limits/analyse-limits.ts";
export { outlineOf } from "./analysis/load-outline.ts";
export { type DurationOf, mostDenied, type Sizing, sizeWorkload } from "./analysis/size/size-workload.ts";
export { thresholdNeeds } from "./analysis/threshold-needs.ts";
export { assertDecidableByTotals, endIfCrossed, withThresholds } from "./analysis/thresholds.ts";
export { calibrate, problemsOf } from "./calibration/calibrate.ts";
export type { EventNotice } from "./events/event-runner.ts";
export { withEvents } from "./events/judge/judge-events.ts";
export { assertNoEvents, describeEventAction, eventSecrets } from "./events/permitted-events.ts";
export { judgeExternal } from "./external/judge-external.ts";
export type { LoadPlan } from "./external/phase-plan.ts";
export { planTier } from "./external/plan-tier.ts";
export { planWorkload } from "./external/plan-workload.ts";
export { CALIBRATED_BOUNDS, DEFAULT_BOUNDS, TIER_BOUNDS } from "./measure/generator-health.ts";
export { LoopDelay } from "./measure/loop-delay.ts";
export type { LoadProgress, RunningPhase } from "./measure/progress.ts";
export type { Sample } from "./measure/sampler.ts";
export { planOf } from "./schedule/arrivals.ts";
export { DEFAULT_RETRY } from "./schedule/retry-rules.ts";
export { boundedBy, parseUntil, type Until } from "./schedule/until.ts";
export { assertReachable } from "./send/assert-reachable.ts";
export { announceStop, guardOver, type LoadGuard, type LoadStop } from "./send/load-guard.ts";
export type { LoadsContext } from "./send/loads-context.ts";
export { type LoadRequestSpec, modelFor } from "./send/prepared-requests.ts";
export { type BlockTimes, RequestLane } from "./send/request-lane.ts";
export type { RequestSpan } from "./send/request-span.ts";
export { runPeak } from "./send/run-peak.ts";
export { type LoadContext, type RanLoad, runWorkload, type ShardPart } from "./send/run-workload.ts";
export { boundOf, circuitRule } from "./send/send-share.ts";
export { type FoundShard, mergeShards } from "./shards/merge-shards.ts";
export {
  parseShardFile,
  SHARD_FILE,
  type ShardFile,
  type ShardHead,
  shardHeadSchema,
  workloadSha256,
  writeShardFile,
} from "./shards/shard-file.ts";
export { shareValidity } from "./shards/share-validity.ts";
export { accountOf, keysOfLoad } from "./tier/account-of.ts";
export { runTier } from "./tier/run-tier.ts";
export { sendStreamsAfterLoad, streamsAfterLoad } from "./tier/streams-after-load.ts";
export type { TierLength } from "./tier/tier-phase.ts";
export { Waves } from "./tier/waves.ts";
export { costOf } from "./workload/cost.ts";
export { servedWorkload } from "./workload/served-workload.ts";
export { DEFAULT_ALLOW, loadWorkload, shortClass, type Workload, workloadJsonSchema } from "./workload/workload.ts";
