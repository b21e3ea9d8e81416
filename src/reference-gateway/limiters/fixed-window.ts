import { type AccountLimiter, WINDOW_US } from "./rate-limiter.ts";

/**
 * Counts per window and resets at its edge; nearly twice the limit fits around an edge.
 *
 * @param limitPerMinute whole number, 1 or more.
 * @param originUs monotonic start of one window; the others follow from it.
 * @param windowUs length of the window, microseconds; a minute outside tests.
 * @param begun the current window, and its count.
 */
export function fixedWindow(
  limitPerMinute: number,
  originUs = 0,
  windowUs: number = WINDOW_US,
  begun: { readonly window: number; readonly counted: number } = { window: Number.NEGATIVE_INFINITY, counted: 0 },
): AccountLimiter {
  let { window, counted } = begun;

  const turnTo = (nowUs: number) => {
    const current = Math.floor((nowUs - originUs) / windowUs);
    if (current === window) return;
    window = current;
    counted = 0;
  };

  return {
    limitPerMinute,
    waitUs(nowUs) {
      turnTo(nowUs);
      return counted < limitPerMinute ? 0 : originUs + (window + 1) * windowUs - nowUs;
    },
    count(nowUs) {
      turnTo(nowUs);
      counted += 1;
    },
    remaining(nowUs) {
      turnTo(nowUs);
      return Math.max(0, limitPerMinute - counted);
    },
    changed: (limit) => fixedWindow(limit, originUs, windowUs, { window, counted }),
  };
}
