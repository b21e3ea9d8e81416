/**
 * The public interface for suites of one's own, and for programs that read run records.
 *
 * A suite is an array of checks made with `defineCheck` or `defineWatch`; `gauntlet explain` shows how the built-in ones
 * decide. Records are read with `readRun`, and their form is `schemas/run.schema.json`.
 */
export {
  Answer,
  type Ask,
  type Asked,
  type Axes,
  atPointer,
  type Check,
  type CheckSpec,
  defineCheck,
  defineWatch,
  freeze,
  type Held,
  type Instance,
  instancesOf,
  isStale,
  type Need,
  type Probe,
  type Recordable,
  suiteOf,
  thaw,
  type Verdict,
} from "./conformance/index.ts";
export { EXIT, type ExitCode, GauntletError, type JsonObject, type JsonValue } from "./core/index.ts";
export {
  type CheckResult,
  checkResultSchema,
  type Finding,
  type LoadClass,
  type LoadFinding,
  type LoadGenerator,
  type LoadPhase,
  type LoadRun,
  type LoadSecond,
  type LoadSection,
  type LoadVerdict,
  type Quantiles,
  RECORD_VERSION,
  type RetryAfterFigures,
  type RetryOutcome,
  type RunRecord,
  type RunVerdict,
  readRecord,
  readRun,
  runRecordJsonSchema,
  runRecordSchema,
  STATUSES,
  type Status,
  type StoredRun,
} from "./record/index.ts";
export { LEDGER, type LedgerRow, ledgerRow, type RowId } from "./spec/index.ts";
export { loadTarget, parseTarget, type Target, type TargetFile, targetJsonSchema } from "./target/index.ts";
export {
  classify,
  type Dialect,
  type ErrorReading,
  type HeaderList,
  type Mode,
  type Outcome,
  type ReplyReading,
  readError,
  readReply,
  readRetryAfter,
  readStream,
  type StreamReading,
} from "./wire/index.ts";
