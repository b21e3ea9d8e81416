export { type Cause, explainedBy } from "./cause.ts";
export { checkChanges } from "./check-changes.ts";
export {
  type Attestation,
  type CheckResult,
  checkResultSchema,
  LAYERS,
  lacksFixture,
  type Waiver,
} from "./check-result.ts";
export {
  checkOfPhase,
  checkOfThresholds,
  checksOfLoad,
  checksOfRun,
  checksOfUnsent,
  figuresOfLoad,
} from "./checks-of-load.ts";
export { compareSeparateRuns } from "./compare-separate-runs.ts";
export type { CheckChange, ComparedMetric, Comparison } from "./comparison-section.ts";
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
export { type JournalLine, readJournal } from "./journal.ts";
export type { EndingThreshold, JudgedLoad, JudgedRun, LoadReason } from "./judged-load.ts";
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
  sessionsSchema,
} from "./load-section.ts";
export { LOAD_DIALECTS } from "./load-values.ts";
export type { Added, AddedDifference, Frontier, Overhead, OverheadLevel } from "./overhead-section.ts";
export { GATE_LEVELS, type Gate, type GateLevel, type PolicySection } from "./policy-section.ts";
export { countExchanges, EXCHANGES, readExchanges } from "./read-exchanges.ts";
export { type RetryAfterFigures, type RetryOutcome, retryAfterSchema } from "./retry-after-section.ts";
export {
  type ExchangeLine,
  RECORDINGS,
  RunFolder,
  readRecord,
  readRun,
  type StoredRun,
  writeAtomically,
} from "./run-folder.ts";
export { RECORD_VERSION, type RunRecord, type RunVerdict, runRecordJsonSchema, runRecordSchema } from "./run-record.ts";
export { countStatuses, DECIDED, FAILED, STATUSES, type Status, UNDECIDED, worstStatus } from "./status.ts";
export { UNMEASURED } from "./unmeasured.ts";
export type { Leak, WatchedMetric, WatchedMetrics, WatchedSample } from "./watched-section.ts";
