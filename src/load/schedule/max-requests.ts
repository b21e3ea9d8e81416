import { longestOf } from "../workload/lengths.ts";
import type { Workload } from "../workload/workload.ts";
import { DEFAULT_RETRY } from "./retry-rules.ts";
import { type Arrivals, planOf } from "./schedule.ts";

/** Assumed requests per second per request in flight, which bounds a closed loop without `requests`. */
const CLOSED_PER_S = 100;
/** Standard deviations by which a Poisson schedule may exceed its mean. */
const POISSON_SIGMAS = 6;

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
  const { requests, durationS = 1 } = planOf(arrivals);
  if (requests === undefined) return Math.ceil((durationS + warmupS) * inFlightOf(arrivals) * CLOSED_PER_S);
  const planned = isPoisson(arrivals) ? withSpread(requests, arrivals) : requests;
  return retryAfter === "none" ? planned : planned * DEFAULT_RETRY.maxAttempts;
}

function isPoisson(arrivals: Arrivals): boolean {
  return arrivals.kind === "poisson" || (arrivals.kind === "sessions" && arrivals.spacing === "poisson");
}

/** Accounts for more arrivals than the mean, each with all of its turns. */
function withSpread(requests: number, arrivals: Arrivals): number {
  const each = arrivals.kind === "sessions" ? longestOf(arrivals.turns) : 1;
  const mean = requests / each;
  return Math.ceil(mean + POISSON_SIGMAS * Math.sqrt(mean) + 1) * each;
}

/** Only a closed loop can lack a number of requests. */
function inFlightOf(arrivals: Arrivals): number {
  return arrivals.kind === "closed" ? arrivals.inFlight : 1;
}
