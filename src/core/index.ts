export { addressProblem } from "./address.ts";
export { type ConnectionAdvice, unreachableError } from "./connection-advice.ts";
export {
  ConfigError,
  type ConfigProblem,
  fileProblem,
  GauntletError,
  InternalError,
  messageOf,
  StorageError,
  UnreachableError,
  UsageError,
} from "./errors.ts";
export { EXIT, type ExitCode } from "./exit-code.ts";
export { groupBy } from "./group-by.ts";
export { atPointer, isObject, type JsonObject, type JsonValue, listOf, member } from "./json.ts";
export { nonceOf, noncesIn } from "./nonce.ts";
export { PNG_SIGNATURE, pngOf } from "./png.ts";
export { type Clock, sleep, systemClock } from "./process/clock.ts";
export { inSlices, type Sliced } from "./process/in-slices.ts";
export { appendJobSummary, isGithubJob } from "./process/job-summary.ts";
export { onAbort } from "./process/on-abort.ts";
export { outliveWriteErrors, type WriteFailure } from "./process/outlive-write-errors.ts";
export { processorTimes } from "./process/processor-times.ts";
export { keyByReference, readSecret } from "./process/secret-reference.ts";
export { BUILD_OF_PROGRAM, docsAddress, NAME, VERSION } from "./process/version.ts";
export { median, rankCorrelation } from "./series.ts";
export { seriesName } from "./series-name.ts";
export { type Random, seededRandom } from "./statistics/random.ts";
export { deviation, mean, quantile, resamples, shuffled } from "./statistics/sample.ts";
export { incompleteBeta, normalCumulative, tCumulative, tQuantile } from "./statistics/student-t.ts";
export { MIN_BLOCKS, NORMAL_DEVIATIONS, shareInflation, sumSpread } from "./statistics/sum-spread.ts";
export {
  countToDecide,
  countUntil,
  differenceOfShares,
  type Interval,
  type MeasuredShare,
  wilson,
} from "./statistics/wilson.ts";
export { capitalized } from "./text/capitalized.ts";
export { excerptOf } from "./text/excerpt.ts";
export { formatChange, formatCount, formatNumber, formatRounded, withSign } from "./text/format-number.ts";
export { maskLikely } from "./text/mask-likely.ts";
export { escapedJson, plainText, terminalText } from "./text/plain-output.ts";
export { didYouMean, didYouMeanPath, nearestOf } from "./text/suggestion.ts";
export { trim } from "./text/trim.ts";
export { utc } from "./text/utc.ts";
export { workflowCommand } from "./text/workflow-command.ts";
