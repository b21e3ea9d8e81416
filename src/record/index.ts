export { type Attestation, type CheckResult, checkResultSchema, type Finding, findingSchema } from "./check-result.ts";
export { type JournalEvent, RunFolder, readRecord, readRun, type StoredRun, writeAtomically } from "./run-folder.ts";
export { RECORD_VERSION, type RunRecord, type RunVerdict, runRecordJsonSchema, runRecordSchema } from "./run-record.ts";
export { countStatuses, STATUSES, type Status, worstOf } from "./status.ts";
