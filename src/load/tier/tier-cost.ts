import type { Limits } from "../../target/index.ts";
import { concurrencyRequests } from "./at-concurrency-limit.ts";
import { evenMinute, SHARE } from "./at-rate-limit.ts";
import { OVER_SECONDS, overRequests } from "./over-rate-limit.ts";
import { recoveryRequests, recoverySeconds } from "./recovery.ts";

/**
 * `thorough`: waits for a Retry-After of a whole minute with nothing else in flight. `brief`: for a shorter one. `quick`: no
 * overload at all.
 */
export type TierLength = "thorough" | "brief" | "quick";

/** Single requests at the start: they warm up connections and code, and show how a lone stream arrives. */
export const WARM_UPS = 8;
/** Evenly spaced requests of a quick run. */
export const QUICK_EVEN = 32;

/** Requests of the phase at the limit: what the concurrency phases left of a minute's limit. */
export function atTheLimitRequests({ rpm, inFlight }: Limits): number {
  return Math.max(20, evenMinute(rpm) - concurrencyRequests(inFlight) - WARM_UPS);
}

/** Maximum number of requests of a tier run, and its duration. */
export function tierCost(
  limits: Limits,
  length: TierLength,
): { requests: number; durationS: number; peakPerS: number } {
  const { rpm, inFlight } = limits;
  const even = atTheLimitRequests(limits);
  if (length === "quick") {
    const requests = WARM_UPS + concurrencyRequests(inFlight) + QUICK_EVEN;
    return { requests, durationS: 14 + QUICK_EVEN / ((rpm / 60) * SHARE), peakPerS: inFlight + 25 };
  }
  // If denials make a phase send more (a second minute at the limit, or more attempts of the fleet), the overload phase sends less than its
  // own bound. The sum of all bounds would be twice what any gateway gets.
  const requests =
    WARM_UPS + concurrencyRequests(inFlight) + even + overRequests(rpm, inFlight) + recoveryRequests(inFlight);
  const durationS = 12 + Math.max(50, even / ((rpm / 60) * SHARE)) + OVER_SECONDS + recoverySeconds(limits);
  return { requests, durationS, peakPerS: inFlight + 25 };
}
