import { type RateLimiter, WINDOW_US } from "./rate-limiter.ts";

/**
 * One request per interval, nothing saved up (the generic cell rate algorithm without a burst).
 *
 * @param limitPerMinute requests per minute; 1 or more.
 * @param toleranceUs how early a request may come and still pass. Without it, network jitter alone would deny
 *   traffic that was sent evenly and below the limit: at 3,000 per minute the interval is only 20 ms.
 */
export function paced(limitPerMinute: number, toleranceUs = 50_000): RateLimiter {
  const intervalUs = WINDOW_US / limitPerMinute;
  let dueUs = Number.NEGATIVE_INFINITY;

  return {
    limitPerMinute,
    waitUs: (nowUs) => Math.max(0, dueUs - toleranceUs - nowUs),
    count(nowUs) {
      dueUs = Math.max(dueUs, nowUs) + intervalUs;
    },
    remaining(nowUs) {
      const aheadUs = Math.max(0, dueUs - nowUs);
      return aheadUs > toleranceUs ? 0 : Math.floor((toleranceUs - aheadUs) / intervalUs) + 1;
    },
  };
}
