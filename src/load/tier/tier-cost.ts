import type { Limits } from "../../target/index.ts";
import type { TierLength } from "./tier-phase.ts";
import { phasesOf } from "./tier-phases.ts";

/**
 * Maximum number of requests of a tier run, and its duration. If denials make a phase send more (a second minute at the limit, or
 * more attempts of the fleet), the overload phase sends less than its own bound. The sum of all bounds would be twice what any
 * gateway gets.
 */
export function tierCost(
  limits: Limits,
  length: TierLength,
): { requests: number; durationS: number; peakPerS: number } {
  const costs = phasesOf(length).map((phase) => phase.cost(limits, length));
  return {
    requests: costs.reduce((sum, { requests }) => sum + requests, 0),
    durationS: costs.reduce((sum, { durationS }) => sum + durationS, 0),
    peakPerS: limits.inFlight + 25,
  };
}
