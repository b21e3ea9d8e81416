export { addressProblem } from "./address.ts";
export { type Clock, sleep, systemClock } from "./clock.ts";
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
export { excerptOf } from "./excerpt.ts";
export { EXIT, type ExitCode } from "./exit-code.ts";
export { formatCount, formatNumber, formatRounded } from "./format-number.ts";
export { groupBy } from "./group-by.ts";
export { inSlices, type Sliced } from "./in-slices.ts";
export { atPointer, isObject, type JsonObject, type JsonValue, member } from "./json.ts";
export { maskLikely } from "./mask-likely.ts";
export { nonceOf, noncesIn } from "./nonce.ts";
export { onAbort } from "./on-abort.ts";
export { outliveWriteErrors, type WriteFailure } from "./outlive-write-errors.ts";
export { escapedJson, terminalText } from "./plain-output.ts";
export { PNG_SIGNATURE, pngOf } from "./png.ts";
export { processorTimes } from "./processor-times.ts";
export { type Random, seededRandom } from "./random.ts";
export { median, rankCorrelation } from "./series.ts";
export { seriesName } from "./series-name.ts";
export { incompleteBeta, normalCumulative, tCumulative, tQuantile } from "./student-t.ts";
export { didYouMean, didYouMeanPath, nearestOf } from "./suggestion.ts";
export { MIN_BLOCKS, NORMAL_DEVIATIONS, shareInflation, sumSpread } from "./sum-spread.ts";
export { trim } from "./trim.ts";
export { type Interval, wilson } from "./wilson.ts";
