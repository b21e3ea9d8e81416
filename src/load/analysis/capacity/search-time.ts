import { WINDOW_OVER_MS } from "../../../limits/index.ts";
import type { Limits } from "../../../target/index.ts";
import { type Measured, type SearchPlan, search } from "./search.ts";

/** How long the best level is held, s: long enough for a limit per minute to take effect. */
export const HOLD_S = 75;
const WITHIN = 0.05;

export interface SearchRange {
  /** What is searched for: requests per second, or requests in flight. */
  readonly unit: "rate" | "streams";
  readonly from: number;
  readonly to: number;
  readonly stepS: number;
  /** What the account is declared to allow. */
  readonly limits: Limits | undefined;
}

export const searchPlanOf = ({ from, to, unit }: SearchRange): SearchPlan => ({
  from,
  to,
  within: WITHIN,
  whole: unit === "streams",
});

/** The planned duration of a level. Above the declared rate, a short step could pass because of the burst allowance alone. */
export function stepSeconds(range: SearchRange, level: number): number {
  return isOverRate(range, level) ? HOLD_S : range.stepS;
}

const isOverRate = ({ unit, limits }: SearchRange, level: number): boolean =>
  unit === "rate" && limits !== undefined && level > limits.rpm / 60;

/** Number of limits across the range for which the search is simulated. */
const SIMULATED_LIMITS = 500;

/**
 * Worst-case duration of a search over all limits in the range, in seconds. Repeated levels are not included.
 */
export async function searchSeconds(range: SearchRange): Promise<number> {
  const { from, to } = range;
  const lowest = Math.min(from, to);
  const limits = Array.from(
    { length: SIMULATED_LIMITS },
    (_, index) => lowest * (to / lowest) ** (index / (SIMULATED_LIMITS - 1)),
  );
  const all = await Promise.all(limits.map((limit) => secondsToFind(limit, range)));
  return Math.max(...all);
}

async function secondsToFind(limit: number, range: SearchRange): Promise<number> {
  const { best, steps } = await search(searchPlanOf(range), async (level): Promise<Measured> => {
    return { level, met: level <= limit };
  });
  const restS = WINDOW_OVER_MS / 1_000;
  const searchedS = steps.reduce(
    (sum, { level, met }) => sum + stepSeconds(range, level) + (!met && isOverRate(range, level) ? restS : 0),
    0,
  );
  return searchedS + (best === undefined || stepSeconds(range, best.level) >= HOLD_S ? 0 : HOLD_S);
}
