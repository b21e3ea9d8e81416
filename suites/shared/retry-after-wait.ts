import type { Response } from "../../src/checks/index.ts";
import { httpDateMs, retryAfterMs } from "../../src/dialects/index.ts";

/** A wait beyond this is rather a clock that is wrong, ms. */
const LONGEST_MS = 90_000;
/** `Date` has whole seconds: clocks that differ by less are taken for equal, ms. */
const SAME_CLOCK_MS = 2_000;

/**
 * The wait that a denial asks for, ms from its arrival; `undefined` when it gives no usable one. A date is read by the
 * gateway's own clock, its `Date`, when that differs from ours and makes a plausible wait: clocks differ (RFC 9110, 6.6.1).
 */
export function retryAfterWaitMs(denial: Response): number | undefined {
  const value = denial.header("retry-after") ?? "";
  const byOurs = retryAfterMs(value, denial.arrivedAtMs);
  const date = httpDateMs(denial.header("date") ?? "", denial.arrivedAtMs);
  if (date === undefined || Math.abs(date - denial.arrivedAtMs) < SAME_CLOCK_MS) return byOurs;
  const byTheirs = retryAfterMs(value, date);
  if (byTheirs === undefined || byTheirs > LONGEST_MS) return byOurs;
  return Math.max(byOurs ?? 0, byTheirs);
}
