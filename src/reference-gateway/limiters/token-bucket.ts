import { type AccountLimiter, WINDOW_US } from "./rate-limiter.ts";

/**
 * Refills evenly and allows a burst up to its size.
 *
 * @param limitPerMinute requests per minute that are refilled; 1 or more.
 * @param burst size of the bucket, requests; 1 or more. At most the limit, otherwise a minute would admit more than twice the
 * limit.
 * @param taken requests missing from the bucket at the start.
 */
export function tokenBucket(limitPerMinute: number, burst: number = limitPerMinute, taken = 0): AccountLimiter {
  const size = Math.max(1, Math.min(burst, limitPerMinute));
  const costUs = WINDOW_US / limitPerMinute;
  // Credit is stored in microseconds of refill: sums of fractions of a token would drift over a long run.
  let creditUs = Math.max(0, size - taken) * costUs;
  let seenUs = Number.NEGATIVE_INFINITY;

  const refill = (nowUs: number) => {
    // Concurrent requests may be checked with slightly older times.
    if (nowUs <= seenUs) return;
    if (seenUs !== Number.NEGATIVE_INFINITY) creditUs = Math.min(size * costUs, creditUs + (nowUs - seenUs));
    seenUs = nowUs;
  };

  return {
    limitPerMinute,
    waitUs(nowUs) {
      refill(nowUs);
      return Math.max(0, costUs - creditUs);
    },
    count(nowUs) {
      refill(nowUs);
      creditUs = Math.max(0, creditUs - costUs);
    },
    remaining(nowUs) {
      refill(nowUs);
      return Math.floor(creditUs / costUs);
    },
    changed(limit, nowUs) {
      refill(nowUs);
      // A bucket of the default size (the limit) is resized with the limit; any other size is kept.
      return tokenBucket(limit, burst === limitPerMinute ? limit : burst, size - creditUs / costUs);
    },
  };
}
