import { fixedWindow } from "./fixed-window.ts";
import { paced } from "./paced.ts";
import type { AccountLimiter } from "./rate-limiter.ts";
import { slidingLog } from "./sliding-log.ts";
import { tokenBucket } from "./token-bucket.ts";

export const LIMITER_KINDS = ["sliding-log", "fixed-window", "token-bucket", "paced"] as const;

export type LimiterKind = (typeof LIMITER_KINDS)[number];

/** The rate limiting algorithm. */
export interface LimiterChoice {
  readonly kind: LimiterKind;
  /** `token-bucket` only: size of the bucket, requests. Default: the limit per minute. Minimum: 1. */
  readonly burst?: number | undefined;
  /** `fixed-window` only: monotonic microseconds at which a window began. Default: 0. */
  readonly originUs?: number | undefined;
}

/** @param limitPerMinute whole number, 1 or more. */
export function makeLimiter(choice: LimiterChoice, limitPerMinute: number): AccountLimiter {
  switch (choice.kind) {
    case "sliding-log":
      return slidingLog(limitPerMinute);
    case "fixed-window":
      return fixedWindow(limitPerMinute, choice.originUs);
    case "token-bucket":
      return tokenBucket(limitPerMinute, choice.burst);
    case "paced":
      return paced(limitPerMinute);
  }
}
