import { judgeConcurrencyRelease, releaseConcurrency, releaseRequests } from "../at-concurrency-limit.ts";
import { judgeCommon } from "../judge/judge-common.ts";
import { atOnce, type TierPhase } from "../tier-phase.ts";
import { CONCURRENCY_MS } from "./at-concurrency-limit.ts";

export const concurrencyRelease: TierPhase = {
  name: "concurrency-release",
  title: "A request that ends frees capacity, even while other requests run",
  questions: ["service.admitted", "concurrency.leaked"],
  cost: ({ inFlight }) => ({ requests: releaseRequests(inFlight), durationS: 4, expectedS: 6 }),
  act: ({ bench }) => releaseConcurrency(bench),
  *judge(observations, parts) {
    const { observations: all, limits } = parts.bench;
    yield judgeConcurrencyRelease(observations, { all, limit: limits.inFlight });
    yield* judgeCommon(observations, parts);
  },
  fixed: {
    title: "A request that ends frees capacity",
    plan: ({ limits, long }) => ({
      durationMs: CONCURRENCY_MS,
      groups: [{ role: "again", arrivals: atOnce(limits.inFlight), requests: long }],
    }),
    judge: (observations, { all, limits }) => judgeConcurrencyRelease(observations, { all, limit: limits.inFlight }),
  },
};
