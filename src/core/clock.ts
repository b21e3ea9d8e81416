import { onAbort } from "./on-abort.ts";

/** Two clocks that must not be mixed: the wall for dates, the monotonic one for differences. */
export interface Clock {
  /** Wall clock, Unix epoch milliseconds. */
  nowMs(): number;
  /** Monotonic, microseconds since an arbitrary origin that is fixed for the process. */
  monotonicUs(): number;
}

export const systemClock: Clock = {
  nowMs: () => Date.now(),
  monotonicUs: () => Math.round(performance.now() * 1_000),
};

/** What a timer can hold, ms: beyond it Node fires at once, and a wait of a century would be none. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/**
 * Waits, or ends early when the signal fires.
 *
 * @param ms more than a timer can hold (24 days) is that much.
 * @returns true after the whole wait, false when the signal ended it. Never throws.
 */
export function sleep(ms: number, signal?: AbortSignal): Promise<boolean> {
  if (signal?.aborted === true) return Promise.resolve(false);
  return new Promise((resolve) => {
    const listening =
      signal &&
      onAbort(signal, () => {
        clearTimeout(timer);
        resolve(false);
      });
    const timer = setTimeout(
      () => {
        listening?.[Symbol.dispose]();
        resolve(true);
      },
      Math.min(ms, MAX_TIMER_MS),
    );
  });
}
