import type { Observation } from "../judging/index.ts";
import { isAdmitted, isRateDenial } from "./denials.ts";
import { respondedAtUs } from "./moments.ts";

/**
 * Once the limit is reached, no conformant window admits more than the limit within this time: a fixed window has passed one
 * edge, a sliding one holds no more, a bucket was empty. A second less than a minute, to allow for clocks.
 */
export const WINDOW_US = 59_000_000;
/** After this time, nothing that was sent earlier counts in any one-minute window: a minute and a second for clocks, ms. */
export const WINDOW_OVER_MS = 61_000;
/** Tolerance of per-minute counts: clocks and networks are not exact. */
export const TOLERANCE = 0.01;
/** A limiter that requires even spacing may deny arrivals that are closer than the rate's interval by more than this, µs. */
const JITTER_US = 1_000;

/** A rate denial, and what was certainly admitted within the window after it. */
interface WindowAfterDenial {
  readonly denial: Observation;
  readonly admitted: readonly Observation[];
}

/**
 * The denial with the most admissions in the window after it: sent after the denial's response, and with a response within
 * `WINDOW_US` of the denial's sending. Compares numbers instead of records, because thousands of denials meet thousands of
 * admissions in the sending process.
 */
export function fullestWindow(
  observations: readonly Observation[],
  denied: readonly Observation[] = observations.filter(isRateDenial),
): WindowAfterDenial | undefined {
  const admitted = observations.filter(isAdmitted).sort((a, b) => a.sentUs - b.sentUs);
  const sentUs = Float64Array.from(admitted, (one) => one.sentUs);
  const respondedUs = Float64Array.from(admitted, respondedAtUs);
  let fullest: Observation | undefined;
  let max = -1;
  for (const denial of denied) {
    const fromUs = respondedAtUs(denial);
    const untilUs = denial.sentUs + WINDOW_US;
    let count = 0;
    for (let at = 0; at < sentUs.length; at++)
      if ((sentUs[at] as number) > fromUs && (respondedUs[at] as number) <= untilUs) count++;
    if (count <= max) continue;
    max = count;
    fullest = denial;
  }
  if (fullest === undefined) return undefined;
  const denial = fullest;
  const isWithin = (one: Observation) =>
    one.sentUs > respondedAtUs(denial) && respondedAtUs(one) <= denial.sentUs + WINDOW_US;
  return { denial, admitted: admitted.filter(isWithin) };
}

/** Whether fewer requests were admitted in a window of overload than the limit allows. */
export function isLessThanLimit(count: number, rpm: number): boolean {
  return count < Math.floor(rpm * (WINDOW_US / 60_000_000) * (1 - TOLERANCE)) - 2;
}

/** Whether denied requests may count toward the rate at this gateway, as far as an overload shows it. */
export function mayCountDenied(observations: readonly Observation[], rpm: number): boolean {
  const max = fullestWindow(observations);
  return isLessThanLimit(max?.admitted.length ?? 0, rpm);
}

/**
 * Whether a limiter that requires even spacing may deny this request: together with earlier ones, it arrived closer than the
 * rate's interval. Requests sent before the phase do not count: the limiter had room when it admitted them.
 *
 * @param sends latest time at which each may have been counted, in order.
 * @param denial when it was sent, and the latest time at which it may have been decided.
 */
export function isTooClose(
  sends: readonly number[],
  { sentUs, untilUs }: { readonly sentUs: number; readonly untilUs: number },
  rpm: number,
): boolean {
  const intervalUs = 60_000_000 / rpm;
  let back = 1;
  for (let index = lastBefore(sends, untilUs); index >= 0; index--, back++) {
    if (sentUs - (sends[index] as number) < back * intervalUs - JITTER_US) return true;
  }
  return false;
}

function lastBefore(sends: readonly number[], atUs: number): number {
  let low = 0;
  let high = sends.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((sends[middle] as number) < atUs) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}
