import { WINDOW_OVER_MS } from "../../../limits/index.ts";
import { judgeCommon, latencyOf } from "../judge/judge-common.ts";
import { judgeSlowdown } from "../judge/judge-latency.ts";
import {
  judgeOverTheLimit,
  OVER_SECONDS,
  OVER_THE_LIMIT,
  OVERLOAD_FACTOR,
  overRequests,
  overTheLimit,
} from "../over-rate-limit.ts";
import { evenly, type TierPhase } from "../tier-phase.ts";

/** Maximum Retry-After that is waited for at the start of the overload, ms. */
const MAX_WAIT_MS = { thorough: WINDOW_OVER_MS, brief: 40_000 };
/** A schedule cannot check whether the limit was reached: it sends for this long, s. */
const OVER_S = { thorough: 120, brief: 92 };
const PAUSE_MS = 1_000;

export const overRateLimit: TierPhase = {
  name: OVER_THE_LIMIT,
  title: "Above the rate limit, the excess is denied and the limit holds",
  omittedByQuick: true,
  questions: ["service.admitted", "rate.not-enforced", "rate.exceeded"],
  cost: ({ rpm, inFlight }) => ({
    requests: overRequests(rpm, inFlight),
    durationS: OVER_SECONDS,
    expectedS: OVER_SECONDS,
  }),
  act: ({ bench, waits, length }) =>
    overTheLimit(bench, waits.rate, MAX_WAIT_MS[length === "thorough" ? "thorough" : "brief"]),
  *judge(observations, parts) {
    yield judgeOverTheLimit(observations, parts.bench.limits, true);
    yield judgeSlowdown(observations, latencyOf(parts));
    yield* judgeCommon(observations, parts);
  },
  fixed: {
    plan({ everyMs, short, thorough }) {
      const overMs = (thorough ? OVER_S.thorough : OVER_S.brief) * 1_000;
      const arrivals = evenly(Math.ceil((overMs / everyMs) * OVERLOAD_FACTOR), everyMs / OVERLOAD_FACTOR);
      return { durationMs: overMs + PAUSE_MS, groups: [{ role: "even", arrivals, requests: short }] };
    },
    judge: (observations, { limits, latency }) => [
      ...judgeOverTheLimit(observations, limits, false),
      ...judgeSlowdown(observations, latency),
    ],
  },
};
