/**
 * Admission by rate, in two steps: a request that is refused for another reason must not count toward the rate, so checking and
 * counting are separate. Times are monotonic microseconds; a limiter has no clock and no timer.
 */
export interface RateLimiter {
  /** Requests per minute, of the account. */
  readonly limitPerMinute: number;
  /** @returns microseconds until a request would be admitted; 0 means now. Changes nothing. */
  waitUs(nowUs: number): number;
  /** Counts one request. Allowed at the limit, because a mutation may count without checking. */
  count(nowUs: number): void;
  /** @returns how many more requests would be admitted right now; a whole number, 0 or more. */
  remaining(nowUs: number): number;
}

/** The limiter of an account, whose limit can be changed. */
export interface AccountLimiter extends RateLimiter {
  /** @returns a limiter of the same kind with another limit; earlier requests still count. */
  changed(limitPerMinute: number, nowUs: number): AccountLimiter;
}

/** The minute of "requests per minute". */
export const WINDOW_US = 60_000_000;
