/**
 * Admission by rate, in two steps: a request that is refused for another reason must not cost any rate,
 * so asking and counting are apart. Times are monotonic microseconds; a limiter holds no clock and no timer.
 */
export interface RateLimiter {
  /** Requests per minute, of the account. */
  readonly limitPerMinute: number;
  /** @returns microseconds until a request would be admitted; 0 means now. Changes nothing. */
  waitUs(nowUs: number): number;
  /** Counts one request. Allowed while full, because an operator's mutation may count without asking. */
  count(nowUs: number): void;
  /** @returns how many more requests would be admitted at this very moment; a whole number, 0 or more. */
  remaining(nowUs: number): number;
}

/** The limiter of an account, whose limit can be changed. */
export interface AccountLimiter extends RateLimiter {
  /** @returns a limiter of the same kind with another limit, for which what was counted still counts. */
  changed(limitPerMinute: number, nowUs: number): AccountLimiter;
}

/** The minute of "requests per minute". */
export const WINDOW_US = 60_000_000;
