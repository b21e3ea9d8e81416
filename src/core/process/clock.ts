import { onAbort } from "./on-abort.ts";

/** Two clocks that must not be mixed: the wall clock for dates, the monotonic one for differences. */
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

/** Maximum delay of a timer, ms: with a longer one Node fires immediately, so a wait of a century would not wait at all. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/**
 * Waits, or ends early when the signal fires.
 *
 * @param ms capped at the maximum delay of a timer (24 days).
 * @returns true after the whole wait, false if the signal ended it. Never throws.
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
