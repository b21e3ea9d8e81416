export {
  fullestWindow,
  isLessThanLimit,
  isTooClose,
  mayCountDenied,
  TOLERANCE,
  WINDOW_US,
} from "./admitted-in-window.ts";
export type { Decision, RequestKind } from "./decision.ts";
export {
  isAdmitted,
  isConcurrencyDenial,
  isLimitReason,
  isRateDenial,
  isUnnamedLimit,
  LEFT,
  namesLimit,
} from "./denials.ts";
export {
  type ConcurrencyInference,
  type HeldRequest,
  inferConcurrency,
  inferRelease,
  type Release,
} from "./infer-concurrency.ts";
export { inferRate } from "./infer-rate.ts";
export { hasHead, latestCountUs, type Stretch, type WithHead } from "./moments.ts";
export { admittedBeyond, maxInFlightAtDenial, minPeakInFlight } from "./overlap.ts";
export type { RateInference } from "./rate-inference.ts";
export {
  earlyRetries,
  type RetryAfterWait,
  shareOfTested,
  shareText,
  tallyWaits,
  waitsOf,
} from "./retry-after-waits.ts";
export { readScopes } from "./scopes.ts";
export {
  mostSpentInWindow,
  possiblySpentAt,
  type StatedRemaining,
  surelySpent,
  type TokenSpend,
  wrongRemaining,
} from "./token-spend.ts";
