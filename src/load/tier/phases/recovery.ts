import { isRateDenial, mayCountDenied, waitsOf } from "../../../limits/index.ts";
import { judgeWaits, RATE_WAITS } from "../../analysis/judge-waits.ts";
import { judgeCommon, latencyOf, RARE } from "../judge/judge-common.ts";
import { judgeOutliers, judgeSlowdown } from "../judge/judge-latency.ts";
import { judgeService } from "../judge/judge-service.ts";
import { OVER_THE_LIMIT } from "../over-rate-limit.ts";
import { fleetOf, judgeRecovery, recover, recoveryRequests, recoverySeconds } from "../recovery.ts";
import { atOnce, type TierPhase } from "../tier-phase.ts";
import { CONCURRENCY_MS } from "./at-concurrency-limit.ts";

/** When a fixed schedule ends the fleet, ms: a one-minute window and a margin. */
const FLEET_MS = 65_000;

export const recovery: TierPhase = {
  name: "recovery",
  title: "Clients that honour Retry-After are served after an overload, and no capacity has leaked",
  omittedByQuick: true,
  questions: ["service.admitted", "recovery.served", "retry-after.sufficient", "concurrency.leaked", "client.rules"],
  cost(limits) {
    const durationS = recoverySeconds(limits);
    return { requests: recoveryRequests(limits.inFlight), durationS, expectedS: durationS };
  },
  act: ({ bench, recovery: script, seed }) => recover(bench, script, seed),
  *judge(observations, parts) {
    const { bench, own, waits, recovery: script } = parts;
    const { limits } = bench;
    const loaded = bench.observations.filter(({ phase }) => phase === OVER_THE_LIMIT);
    const deniedCount = mayCountDenied(loaded, limits.rpm);
    script.waits = waitsOf(script.fleet?.attempts ?? [], bench.observations, { deniedCount });
    waits.rate.push(...script.waits);
    yield [];
    yield judgeRecovery(observations, bench.observations, script, limits.inFlight);
    yield judgeWaits(waits.rate, { ...RATE_WAITS, denials: bench.observations.filter(isRateDenial) });
    for (const some of judgeCommon(observations, parts)) yield some.filter(({ name }) => !RARE.includes(name));
    // What is rare in each phase: the last one judges it over the whole run.
    yield judgeService(bench.observations, bench.long, own).filter(({ name }) => RARE.includes(name));
    yield judgeSlowdown(observations, latencyOf(parts));
    yield judgeOutliers(bench.observations, latencyOf(parts));
  },
  fixed: {
    plan({ limits: { inFlight }, everyMs, short, long }) {
      const againMs = FLEET_MS + (inFlight * everyMs + 1_000);
      const fleet = { role: "fleet", arrivals: atOnce(fleetOf(inFlight)), requests: short } as const;
      return {
        durationMs: againMs + CONCURRENCY_MS,
        groups: [
          { ...fleet, retryAfter: "compliant", untilMs: FLEET_MS },
          { role: "again", afterMs: againMs, arrivals: atOnce(inFlight), requests: long },
        ],
      };
    },
    judge: (observations, { latency }) => judgeSlowdown(observations, latency),
    judgeClients: (observations, { all, limits, script }) => [
      ...judgeRecovery(observations, all, script, limits.inFlight),
      ...judgeWaits(script.waits, { ...RATE_WAITS, denials: all.filter(isRateDenial) }),
    ],
  },
};
