import type { Observation } from "../judging/index.ts";
import { isAdmitted, isRateDenial } from "./denials.ts";
import { answeredUs } from "./moments.ts";

/**
 * From a moment at which the limit was reached, so much later no sound window has let in more than the limit: a fixed one has
 * passed one edge, a sliding one holds no more, a bucket was empty. A second less than the minute, for clocks.
 */
export const WINDOW_US = 59_000_000;
/** What counting by the minute may be off: clocks and networks are not exact. */
export const TOLERANCE = 0.01;
/** Closer arrivals than the rate's interval by more than this may be denied by a limiter that wants them even, µs. */
const JITTER_US = 1_000;

/** A rate denial, and what was surely admitted after it within the window. */
interface WindowAfterDenial {
  readonly denial: Observation;
  readonly admitted: readonly Observation[];
}

/**
 * The denial after which the most was admitted: sent after its answer, and answered within the window from its sending.
 * Thousands of denials meet thousands of admissions, in the process that goes on sending: numbers are compared, not records.
 */
export function fullestWindow(
  observations: readonly Observation[],
  denied: readonly Observation[] = observations.filter(isRateDenial),
): WindowAfterDenial | undefined {
  const admitted = observations.filter(isAdmitted).sort((a, b) => a.sentUs - b.sentUs);
  const sentUs = Float64Array.from(admitted, (one) => one.sentUs);
  const answersUs = Float64Array.from(admitted, answeredUs);
  let fullest: Observation | undefined;
  let most = -1;
  for (const denial of denied) {
    const fromUs = answeredUs(denial);
    const untilUs = denial.sentUs + WINDOW_US;
    let count = 0;
    for (let at = 0; at < sentUs.length; at++)
      if ((sentUs[at] as number) > fromUs && (answersUs[at] as number) <= untilUs) count++;
    if (count <= most) continue;
    most = count;
    fullest = denial;
  }
  if (fullest === undefined) return undefined;
  const denial = fullest;
  const isWithin = (one: Observation) =>
    one.sentUs > answeredUs(denial) && answeredUs(one) <= denial.sentUs + WINDOW_US;
  return { denial, admitted: admitted.filter(isWithin) };
}

/** Whether fewer were admitted in a window of overload than the limit allows. */
export function isLessThanLimit(count: number, rpm: number): boolean {
  return count < Math.floor(rpm * (WINDOW_US / 60_000_000) * (1 - TOLERANCE)) - 2;
}

/** Whether denied requests may count toward the rate at this gateway, as far as an overload shows it. */
export function mayCountDenied(observations: readonly Observation[], rpm: number): boolean {
  const most = fullestWindow(observations);
  return isLessThanLimit(most?.admitted.length ?? 0, rpm);
}

/**
 * Whether a limiter that wants requests evenly may deny this one: with some of those before it, it came closer than the
 * rate's interval. What was sent before the phase does not count: who let it in had room for it.
 *
 * @param sends when each may have been counted at the latest, in order.
 * @param denial when it was sent, and when it may have been decided upon at the latest.
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
