import { type AccountLimiter, WINDOW_US } from "./rate-limiter.ts";

/**
 * One request per interval, nothing saved up (the generic cell rate algorithm without a burst).
 *
 * @param limitPerMinute requests per minute; 1 or more.
 * @param toleranceUs how early a request may come and still pass. Without it, network jitter alone would deny
 *   traffic that was sent evenly and below the limit: at 3,000 per minute the interval is only 20 ms.
 * @param nextUs when the first request is due; at once by default.
 */
export function paced(limitPerMinute: number, toleranceUs = 50_000, nextUs = Number.NEGATIVE_INFINITY): AccountLimiter {
  const intervalUs = WINDOW_US / limitPerMinute;
  let dueUs = nextUs;

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
    // The next request waits no longer than the new limit wants it to.
    changed: (limit, nowUs) => paced(limit, toleranceUs, Math.min(dueUs, nowUs + WINDOW_US / limit)),
  };
}
