import { type RateLimiter, WINDOW_US } from "./rate-limiter.ts";

/**
 * Refills evenly and lets a saved-up burst through at once.
 *
 * @param limitPerMinute requests per minute that are refilled; 1 or more.
 * @param burst size of the bucket, requests; 1 or more. At most the limit, or a minute would admit more than twice it.
 */
export function tokenBucket(limitPerMinute: number, burst: number = limitPerMinute): RateLimiter {
  const size = Math.max(1, Math.min(burst, limitPerMinute));
  const costUs = WINDOW_US / limitPerMinute;
  // Credit is kept in microseconds of refill: sums of fractions of a token would drift over a long run.
  let creditUs = size * costUs;
  let seenUs = Number.NEGATIVE_INFINITY;

  const refill = (nowUs: number) => {
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
  };
}
