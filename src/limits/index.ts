export {
  fullestWindow,
  isLessThanLimit,
  isTooClose,
  mayCountDenied,
  TOLERANCE,
  WINDOW_OVER_MS,
  WINDOW_US,
} from "./admitted-in-window.ts";
export { IN_FLIGHT_MS, limitOfUnnamed, peakInFlight, queuedAtLimit, wasAtLimit } from "./at-limit.ts";
export {
  isAdmitted,
  isConcurrencyDenial,
  isRateDenial,
  isUnnamedLimit,
  LEFT,
  type LimitName,
  limitOf,
  STRAY_SHARE,
  strayFailures,
} from "./denials.ts";
export type { Decision, RequestKind } from "./inference/decision.ts";
export {
  type ConcurrencyInference,
  type HeldRequest,
  inferConcurrency,
  inferRelease,
  type Release,
} from "./inference/infer-concurrency.ts";
export { inferRate } from "./inference/infer-rate.ts";
export type { RateInference } from "./inference/rate-inference.ts";
export { readScopes } from "./inference/scopes.ts";
export { hasHead, latestCountUs, type Stretch, type WithHead } from "./moments.ts";
export { admittedBeyond, maxInFlightAtDenial, minPeakInFlight } from "./overlap.ts";
export {
  earlyRetries,
  type RetryAfterWait,
  shareOfTested,
  shareText,
  tallyWaits,
  waitsOf,
} from "./retry-after-waits.ts";
export { isShortWait, muchShorterWait, waitToTest } from "./tested-wait.ts";
export {
  mostSpentInWindow,
  possiblySpentAt,
  type StatedRemaining,
  surelySpent,
  type TokenSpend,
  wrongRemaining,
} from "./token-spend.ts";
