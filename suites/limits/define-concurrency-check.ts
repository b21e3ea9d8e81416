import {
  type Check,
  type CheckSpec,
  defineCheck,
  limitedFor,
  type Need,
  type Session,
  scheduleOn,
  type Verdict,
} from "../../src/checks/index.ts";
import type { Target } from "../../src/target/index.ts";
import { expectedDenial } from "../shared/expected-denial.ts";
import type { ExpectedDenial } from "../shared/judge-denial.ts";
import { limitDenials } from "./burst.ts";
import { type ConcurrencyRecording, hasRoomForWaves, runConcurrencyScenario } from "./concurrency-scenario.ts";

type ConcurrencyCheckSpec = Pick<CheckSpec<never>, "id" | "title" | "covers" | "explains"> & {
  readonly needs?: readonly Need[];
  readonly judge: (recording: ConcurrencyRecording & { readonly expected: ExpectedDenial }, verdict: Verdict) => void;
};

/** What the scenario sends, about: a wave of all slots after each thing that ends a request, where the rate has room for them. */
function requestsOfScenario(target: Target): number {
  const limits = limitedFor(target, "slots")?.limits;
  if (limits === undefined) return 0;
  return hasRoomForWaves(limits) ? 40 * limits.inFlight + 320 : 2 * limits.inFlight + 60;
}

/** All slot checks judge one scenario on the account with the fewest slots. */
export function defineConcurrencyCheck({ judge, needs = [], ...spec }: ConcurrencyCheckSpec): Check {
  return defineCheck({
    ...spec,
    needs: ["limited.slots", "model.stream", ...needs],
    schedule: (target) => scheduleOn(limitedFor(target, "slots")),
    cost: { requests: requestsOfScenario, waitS: 30 },
    async run(t: Session) {
      const recording = await t.once("limits.slots", () => runConcurrencyScenario(t));
      return { ...recording, expected: expectedDenial(t, "concurrency_limit_exceeded") };
    },
    judge(recording, verdict) {
      const { burst, unnamed } = recording;
      const { isRate, isConcurrency } = limitDenials(unnamed);
      const rate = burst.find(isRate);
      // A limiter without burst denies for the rate what comes at once; only then does the burst say nothing of slots.
      if (rate !== undefined && !burst.some(isConcurrency) && !recording.spaced) {
        verdict.inconclusive(`the rate limit came before the slots (${rate.summary})`);
      }
      judge(recording, verdict);
    },
  });
}
