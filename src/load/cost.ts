import type { Target } from "../target/index.ts";
import { boundOf } from "./run-workload.ts";
import { planOf } from "./schedule.ts";
import type { Workload } from "./workload.ts";

/** What a workload may send at most, told before anything is sent. */
export interface LoadCost {
  readonly requests: number;
  readonly outputTokens: number;
  readonly peakPerS: number | undefined;
  readonly inFlight: number;
  /** `undefined` when requests and not time end it. */
  readonly durationS: number | undefined;
}

/** Requests per second and stream that a closed loop without a number of requests is taken to send. */
const CLOSED_PER_S = 100;

export function costOf(workload: Workload, _target: Target): LoadCost {
  const { arrivals, mix, warmupS } = workload;
  if (arrivals === undefined)
    return { requests: 0, outputTokens: 0, peakPerS: undefined, inFlight: 0, durationS: undefined };
  const plan = planOf(arrivals);
  const inFlight = boundOf(workload);
  const requests = plan.requests ?? Math.ceil((plan.durationS ?? 1) * inFlight * CLOSED_PER_S);
  const weight = mix.reduce((sum, entry) => sum + entry.weight, 0);
  const meanTokens = mix.reduce((sum, entry) => sum + entry.maxTokens * entry.weight, 0) / weight;
  return {
    requests,
    outputTokens: Math.ceil(requests * meanTokens),
    peakPerS: plan.peakPerS,
    inFlight,
    durationS: plan.durationS === undefined ? undefined : plan.durationS + warmupS,
  };
}
