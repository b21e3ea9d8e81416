import { WINDOW_OVER_MS } from "../../../limits/index.ts";
import type { Limits } from "../../../target/index.ts";
import { fillRequests, releaseRequests } from "../at-concurrency-limit.ts";
import { atTheLimit, evenMinute, judgeAtTheLimit, SHARE } from "../at-rate-limit.ts";
import { judgeCommon, latencyOf } from "../judge/judge-common.ts";
import { judgeGrowth, judgeOutliers, judgeSlowdown } from "../judge/judge-latency.ts";
import { evenly, type TierLength, type TierPhase } from "../tier-phase.ts";
import { WARM_UPS } from "./warm-up.ts";

/** Evenly spaced requests of a quick run. */
const QUICK_EVEN = 32;
/** Minimum duration in the plan, s: the phase may have to wait out denials of the first minute. */
const MIN_S = 50;
/** Allowance for responses that are still in flight in a quick run, s. */
const QUICK_END_S = 2;
const PAUSE_MS = 1_000;

/** What the concurrency phases left of a minute's limit. */
function leftOfMinute({ rpm, inFlight }: Limits): number {
  return Math.max(20, evenMinute(rpm) - fillRequests(inFlight) - releaseRequests(inFlight) - WARM_UPS);
}

function requestsOf(limits: Limits, length: TierLength): number {
  return length === "quick" ? QUICK_EVEN : leftOfMinute(limits);
}

export const atRateLimit: TierPhase = {
  name: "at-rate-limit",
  title: "Just below the rate limit, nothing is denied",
  questions: ["service.admitted", "rate.denied-below-limit", "concurrency.denied-below-limit"],
  cost(limits, length) {
    const requests = requestsOf(limits, length);
    const expectedS = requests / ((limits.rpm / 60) * SHARE);
    return {
      requests,
      durationS: length === "quick" ? QUICK_END_S + expectedS : Math.max(MIN_S, expectedS),
      expectedS,
    };
  },
  act: ({ bench, length }) => atTheLimit(bench, requestsOf(bench.limits, length)),
  *judge(observations, parts) {
    const { bench } = parts;
    yield judgeAtTheLimit(observations, bench.observations, bench.limits);
    yield judgeGrowth(observations);
    yield judgeSlowdown(observations, latencyOf(parts));
    yield judgeOutliers(observations, latencyOf(parts));
    yield* judgeCommon(observations, parts);
  },
  fixed: {
    // A schedule cannot wait for requests from before the run to expire: it starts when they no longer count.
    notBeforeMs: WINDOW_OVER_MS,
    plan({ limits, everyMs, short }) {
      const count = leftOfMinute(limits);
      return {
        durationMs: (count * everyMs) / SHARE + PAUSE_MS,
        groups: [{ role: "even", arrivals: evenly(count, everyMs / SHARE), requests: short }],
      };
    },
    judge: (observations, { all, limits, latency }) => [
      ...judgeAtTheLimit(observations, all, limits),
      ...judgeGrowth(observations),
      ...judgeSlowdown(observations, latency),
    ],
  },
};
