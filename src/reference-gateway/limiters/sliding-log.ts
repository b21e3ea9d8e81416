import { type AccountLimiter, WINDOW_US } from "./rate-limiter.ts";

/**
 * Exact: any sixty seconds hold at most the limit. Stores one time per admitted request, in a ring that never grows.
 *
 * @param limitPerMinute whole number, 1 or more.
 * @param windowUs length of the window, microseconds; a minute outside tests.
 * @param counted times of requests that already count, oldest first.
 */
export function slidingLog(
  limitPerMinute: number,
  windowUs: number = WINDOW_US,
  counted: readonly number[] = [],
): AccountLimiter {
  const times = new Float64Array(limitPerMinute);
  times.set(counted.slice(-limitPerMinute));
  let oldest = 0;
  let held = Math.min(counted.length, limitPerMinute);

  const forget = (nowUs: number) => {
    while (held > 0 && (times[oldest] as number) + windowUs <= nowUs) {
      oldest = (oldest + 1) % limitPerMinute;
      held -= 1;
    }
  };

  return {
    limitPerMinute,
    waitUs(nowUs) {
      forget(nowUs);
      return held < limitPerMinute ? 0 : (times[oldest] as number) + windowUs - nowUs;
    },
    count(nowUs) {
      forget(nowUs);
      if (held === limitPerMinute) {
        oldest = (oldest + 1) % limitPerMinute;
        held -= 1;
      }
      times[(oldest + held) % limitPerMinute] = nowUs;
      held += 1;
    },
    remaining(nowUs) {
      forget(nowUs);
      return limitPerMinute - held;
    },
    changed(limit, nowUs) {
      forget(nowUs);
      const inOrder = Array.from({ length: held }, (_, index) => times[(oldest + index) % limitPerMinute] as number);
      return slidingLog(limit, windowUs, inOrder);
    },
  };
}
