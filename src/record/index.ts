export { checkChanges } from "./check-changes.ts";
export { type Attestation, type CheckResult, checkResultSchema, type Finding, type Waiver } from "./check-result.ts";
export { type CheckChange, type ComparedMetric, type Comparison, onceAgainstOnce } from "./comparison-section.ts";
export type {
  LoadClass,
  LoadFinding,
  LoadGenerator,
  LoadHeat,
  LoadInstance,
  LoadPhase,
  LoadRun,
  LoadSecond,
  LoadSection,
  LoadVerdict,
  Quantiles,
  RetryAfterFigures,
  RetryOutcome,
} from "./load-section.ts";
export { GATE_LEVELS, type Gate, type GateLevel, type PolicySection } from "./policy-section.ts";
export { readExchanges } from "./read-exchanges.ts";
export { RunFolder, readRecord, readRun, type StoredRun, writeAtomically } from "./run-folder.ts";
export { RECORD_VERSION, type RunRecord, type RunVerdict, runRecordJsonSchema, runRecordSchema } from "./run-record.ts";
export { countStatuses, STATUSES, type Status } from "./status.ts";
