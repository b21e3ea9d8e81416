export { type Cause, explainedBy } from "./cause.ts";
export { checkChanges } from "./check-changes.ts";
export {
  type Attestation,
  type CheckResult,
  checkResultSchema,
  LAYERS,
  lacksFixture,
  type Waiver,
  waiverSchema,
} from "./check-result.ts";
export {
  checkOfEvents,
  checkOfPhase,
  checksOfLoad,
  checksOfRun,
  checksOfThresholds,
  checksOfUnsent,
  figuresOfLoad,
  phaseCheckId,
  statusOfPhase,
} from "./checks-of-load.ts";
export { compareSeparateRuns, separateRunBounds } from "./compare-separate-runs.ts";
export { measuredShare } from "./compare-shares.ts";
export { type JournalLine, readJournal } from "./files/journal.ts";
export { countExchanges, EXCHANGES, readExchanges } from "./files/read-exchanges.ts";
export {
  type ExchangeLine,
  RECORDINGS,
  RunFolder,
  readRecord,
  readRun,
  type StoredRun,
  writeAtomically,
} from "./files/run-folder.ts";
export {
  countMet,
  type Deviation,
  type Expected,
  type Finding,
  type Observed,
  type ResponseFacts,
  STATUS_RANGES,
  statusOfFinding,
  type UndecidedReason,
} from "./finding.ts";
export type { EndingThreshold, JudgedLoad, JudgedRun, LoadReason } from "./judged-load.ts";
export { SAMPLES_NEEDED } from "./quantile-samples.ts";
export { RECORD_VERSION, type RunRecord, type RunVerdict, runRecordJsonSchema, runRecordSchema } from "./run-record.ts";
export type {
  CheckChange,
  ComparedMetric,
  Comparison,
  ComparisonReason,
} from "./sections/comparison-section.ts";
export type { EventExecution, EventFigures, LoadEvent } from "./sections/event-section.ts";
export {
  generatorSchema,
  type JudgedPhase,
  judgedPhaseSchema,
  LOAD_OUTCOMES,
  type LoadClass,
  type LoadGenerator,
  type LoadHeat,
  type LoadInstance,
  type LoadPhase,
  type LoadRun,
  type LoadSecond,
  type LoadSection,
  type LoadVerdict,
  type Quantiles,
  responseByModeSchema,
  type SecondQuantiles,
  sessionsSchema,
} from "./sections/load-section.ts";
export { LOAD_DIALECTS } from "./sections/load-values.ts";
export type { Added, AddedDifference, Frontier, Overhead, OverheadLevel } from "./sections/overhead-section.ts";
export { GATE_LEVELS, type Gate, type GateLevel, type PolicySection } from "./sections/policy-section.ts";
export {
  type Claimed,
  PROFILE_RESULTS,
  type ProfileResult,
  profileResultSchema,
  REQUIREMENT_RESULTS,
  type RequirementResult,
} from "./sections/profile-section.ts";
export { type RetryAfterFigures, type RetryOutcome, retryAfterSchema } from "./sections/retry-after-section.ts";
export type { Leak, WatchedMetric, WatchedMetrics, WatchedSample } from "./sections/watched-section.ts";
export { isSameLoad, selectionOf, withoutPassCriteria } from "./selection.ts";
export { countStatuses, DECIDED, FAILED, STATUSES, type Status, UNDECIDED, worstStatus } from "./status.ts";
export { UNMEASURED } from "./unmeasured.ts";
