import { InternalError } from "../../core/index.ts";
import type { Target } from "../../target/index.ts";
import type { MeanTokens } from "../schedule/arrival-kind.ts";
import { type Arrivals, kindOf, planOf } from "../schedule/arrivals.ts";
import { maxRequests } from "../schedule/max-requests.ts";
import { boundOf } from "../send/send-share.ts";
import { accountOf } from "../tier/account-of.ts";
import { requestsAfterLoad, streamsAfterLoad } from "../tier/streams-after-load.ts";
import { tierCost } from "../tier/tier-cost.ts";
import type { TierLength } from "../tier/tier-phase.ts";
import { longestOf } from "./lengths.ts";
import { tokensIn } from "./prompt-text.ts";
import type { RequestClass, Workload } from "./workload.ts";

/** Upper bound on what a workload may send, known before anything is sent. */
export interface LoadCost {
  readonly requests: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly peakPerS: number | undefined;
  readonly inFlight: number;
  /** `undefined` if the number of requests ends it, not time. */
  readonly durationS: number | undefined;
}

/** Output of the requests of a tier run, tokens: long streams and short echoes. */
const TIER_TOKENS = 60;
/** Input of a tier run's request, tokens; also what a dialect adds to the words of a prompt. */
const TIER_INPUT = 40;
const FRAME_TOKENS = 10;

export function costOf(workload: Workload, target: Target, length: TierLength = "thorough"): LoadCost {
  const { arrivals, mix, warmupS } = workload;
  if (workload.tier !== undefined) {
    const { limits } = accountOf(workload, target);
    const { requests, durationS, peakPerS } = tierCost(limits, length);
    return {
      requests,
      inputTokens: requests * TIER_INPUT,
      outputTokens: requests * TIER_TOKENS,
      peakPerS,
      inFlight: limits.inFlight + 32,
      durationS,
    };
  }
  if (arrivals === undefined) throw new InternalError(`${workload.name} has neither arrivals nor a tier`);
  const plan = planOf(arrivals);
  const inFlight = boundOf(workload);
  const requests = maxRequests(workload);
  const { inputTokens, outputTokens } = meanTokens(arrivals, mix);
  const streams = streamsAfterLoad(workload, target);
  const extraRequests = requestsAfterLoad(streams);
  return {
    requests: requests + extraRequests,
    inputTokens: Math.ceil(requests * inputTokens) + extraRequests * TIER_INPUT,
    outputTokens: Math.ceil(requests * outputTokens) + extraRequests * TIER_TOKENS,
    peakPerS: plan.peakPerS,
    inFlight: Math.max(inFlight, streams),
    durationS: plan.durationS === undefined ? undefined : plan.durationS + warmupS,
  };
}

/** Mean tokens per request over the classes of the mix and the lines of the trace; for a distribution, its maximum. */
function meanTokens(arrivals: Arrivals, mix: Workload["mix"]): MeanTokens {
  const weight = mix.reduce((sum, entry) => sum + entry.weight, 0);
  const mean = (of: (entry: RequestClass) => number) =>
    mix.reduce((sum, entry) => sum + of(entry) * entry.weight, 0) / weight;
  const ofMix = {
    inputTokens: mean(({ promptTokens, promptBytes }) =>
      promptBytes === undefined ? longestOf(promptTokens) : tokensIn(longestOf(promptBytes)),
    ),
    outputTokens: mean(({ maxTokens }) => longestOf(maxTokens)),
  };
  const { inputTokens, outputTokens } = kindOf(arrivals).meanTokens?.(arrivals, ofMix) ?? ofMix;
  return { inputTokens: inputTokens + FRAME_TOKENS, outputTokens };
}
