import type { Workload } from "../workload/workload.ts";
import { planOf } from "./arrivals.ts";
import { DEFAULT_RETRY } from "./retry-rules.ts";

/** Assumed requests per second per request in flight, which bounds a closed loop without `requests`. */
const CLOSED_PER_S = 100;

/**
 * Maximum number of requests that a workload sends, including retries and warm-up: announced by the plan and enforced by every
 * engine. A closed loop without `requests` ends at this number or at its duration, whichever comes first.
 */
export function maxRequests({
  arrivals,
  retryAfter,
  warmupS,
}: Pick<Workload, "arrivals" | "retryAfter" | "warmupS">): number {
  if (arrivals === undefined) throw new Error("a workload without arrivals is a tier run");
  const { requests, maxRequests: planned = requests, durationS = 1, inFlight = 1 } = planOf(arrivals);
  if (planned === undefined) return Math.ceil((durationS + warmupS) * inFlight * CLOSED_PER_S);
  return retryAfter === "none" ? planned : planned * DEFAULT_RETRY.maxAttempts;
}
