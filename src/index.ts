/**
 * The public interface for your own suites, and for programs that read run records.
 *
 * A suite is an array of checks made with `defineCheck` or `defineInvariant`, which may cover your own requirements, made with
 * `defineRequirement`; `gauntlet explain` shows how the built-in ones decide. Records are read with `readRun`, and their form is
 * `schemas/run.schema.json`.
 */
export {
  type Axes,
  type Check,
  type CheckSpec,
  defineCheck,
  defineInvariant,
  freeze,
  type HeldRequest,
  type Instance,
  instancesOf,
  isStale,
  type Need,
  type Recordable,
  type RequestInfo,
  type RequestSpec,
  Response,
  type Schedule,
  type Session,
  suiteOf,
  thaw,
} from "./checks/index.ts";
export { atPointer, EXIT, type ExitCode, GauntletError, type JsonObject, type JsonValue } from "./core/index.ts";
export {
  type Classification,
  classify,
  type Dialect,
  type ErrorReading,
  type HeaderList,
  type Mode,
  type ReplyReading,
  readError,
  readReply,
  readRetryAfter,
  readStream,
  type StreamReading,
} from "./dialects/index.ts";
export {
  absent,
  anArray,
  anObject,
  aString,
  atLeast,
  atMost,
  callerError,
  type Expectation,
  filledString,
  oneOf,
  serverError,
  success,
  that,
  tokenCounts,
  type Verdict,
} from "./judging/index.ts";
export {
  type CheckResult,
  checkResultSchema,
  type Finding,
  type LoadClass,
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
export {
  type CustomRequirement,
  type CustomRequirementSpec,
  defineRequirement,
  REQUIREMENTS,
  type Requirement,
  type RequirementId,
  requirementOf,
} from "./requirements/index.ts";
export { loadTarget, parseTarget, type Target, type TargetFile, targetJsonSchema } from "./target/index.ts";
