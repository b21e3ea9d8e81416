import { type AccountLimiter, WINDOW_US } from "./rate-limiter.ts";

/**
 * One request per interval, without credit (the generic cell rate algorithm without a burst).
 *
 * @param limitPerMinute requests per minute; 1 or more.
 * @param toleranceUs how early a request may arrive and still be admitted. Without it, network jitter alone would deny evenly
 * sent traffic below the limit: at 3,000 per minute the interval is only 20 ms.
 * @param nextUs when the first request is due; immediately by default.
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
    // The next request waits at most one interval of the new limit.
    changed: (limit, nowUs) => paced(limit, toleranceUs, Math.min(dueUs, nowUs + WINDOW_US / limit)),
  };
}
