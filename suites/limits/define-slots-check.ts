import {
  type Check,
  type CheckSpec,
  defineCheck,
  limitedFor,
  type Need,
  type Probe,
  type Verdict,
} from "../../src/conformance/index.ts";
import { expectedDenial } from "../shared/expected-denial.ts";
import type { ExpectedDenial } from "../shared/judge-denial.ts";
import { isRateDenial, isSlotDenial } from "./burst.ts";
import { type SlotsRecording, slotsScenario } from "./slots-scenario.ts";

type SlotsCheckSpec = Pick<CheckSpec<never>, "id" | "title" | "covers" | "explains"> & {
  readonly needs?: readonly Need[];
  readonly judge: (recording: SlotsRecording & { readonly expected: ExpectedDenial }, verdict: Verdict) => void;
};

/** All slot checks judge one scenario on the account with the fewest slots. */
export function defineSlotsCheck({ judge, needs = [], ...spec }: SlotsCheckSpec): Check {
  return defineCheck({
    ...spec,
    needs: ["limited.slots", "model.stream", ...needs],
    lock: (target) => `account ${limitedFor(target, "slots")?.key.name ?? ""}`,
    alone: (target) => limitedFor(target, "slots")?.shared === true,
    cost: { requests: 180, waitS: 30 },
    async probe(t: Probe) {
      const recording = await t.once("limits.slots", () => slotsScenario(t));
      return { ...recording, expected: expectedDenial(t, "concurrency_limit_exceeded") };
    },
    judge(recording, verdict) {
      const rate = recording.burst.find(isRateDenial);
      // A limiter without burst denies for the rate what comes at once; only then does the burst say nothing of slots.
      if (rate !== undefined && !recording.burst.some(isSlotDenial) && !recording.spaced) {
        verdict.inconclusive(`the rate limit came before the slots (${rate.summary})`);
      }
      judge(recording, verdict);
    },
  });
}
