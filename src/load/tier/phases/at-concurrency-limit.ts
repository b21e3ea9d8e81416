import { isConcurrencyDenial } from "../../../limits/index.ts";
import { judgeWaits } from "../../analysis/judge-waits.ts";
import {
  AT_CONCURRENCY_LIMIT,
  extraOf,
  fillConcurrency,
  fillRequests,
  judgeConcurrencyLimit,
} from "../at-concurrency-limit.ts";
import { judgeCommon } from "../judge/judge-common.ts";
import { atOnce, type TierPhase } from "../tier-phase.ts";

/** Delay after the wave: every response head has arrived, and streams of two seconds are still running. */
const EXTRA_AFTER_MS = 900;
/** All streams at the concurrency limit have ended after this time, with streams of up to ten seconds. */
export const CONCURRENCY_MS = 12_000;

export const atConcurrencyLimit: TierPhase = {
  name: AT_CONCURRENCY_LIMIT,
  title: "Requests in flight up to the limit, then beyond it: the excess must be denied",
  questions: ["service.admitted", "concurrency.exceeded", "concurrency.denied-early", "concurrency.not-enforced"],
  adaptiveQuestions: ["retry-after.concurrency-sufficient"],
  cost: ({ inFlight }) => ({ requests: fillRequests(inFlight), durationS: 6, expectedS: 8 }),
  act: ({ bench, waits }) => fillConcurrency(bench, waits.concurrency),
  *judge(observations, parts) {
    const { bench, own, waits } = parts;
    yield judgeConcurrencyLimit(observations, {
      all: bench.observations,
      limit: bench.limits.inFlight,
      stalledSpans: own.stalledSpans,
    });
    yield judgeWaits(waits.concurrency, {
      name: "retry-after.concurrency-sufficient",
      title: "A request after the Retry-After wait of a concurrency denial is admitted",
      requirement: "LIMIT-CONC-6",
      denials: observations.filter(isConcurrencyDenial),
    });
    yield* judgeCommon(observations, parts);
  },
  fixed: {
    plan: ({ limits: { inFlight }, short, long }) => ({
      durationMs: CONCURRENCY_MS,
      groups: [
        { role: "wave", arrivals: atOnce(inFlight + extraOf(inFlight)), requests: long },
        { role: "extra", afterMs: EXTRA_AFTER_MS, arrivals: atOnce(8), requests: short },
      ],
    }),
    judge: (observations, { all, limits }) =>
      judgeConcurrencyLimit(observations, { all, limit: limits.inFlight, stalledSpans: [] }),
  },
};
