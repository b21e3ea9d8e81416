import type { Limits } from "../../target/index.ts";

export interface SizeOptions {
  readonly workload: string;
  readonly ttftMs: number;
  readonly tokensPerS: number;
  readonly verify: boolean;
  readonly target?: string | undefined;
  readonly account: string;
  readonly seed: number;
  readonly json: boolean;
  readonly out?: string | undefined;
}

/** The result of running the workload, next to a prediction based on the measured durations. */
export interface Verified {
  readonly account: string;
  readonly limits: Limits;
  readonly requests: number;
  readonly deniedShare: number;
  /** Smallest and largest share that the simulated limiters deny. */
  readonly predicted: readonly [low: number, high: number];
  readonly agrees: boolean;
  /** Unusable replies or failures beyond what the workload allows; `null` if there are none. */
  readonly broken: string | null;
  /** Why the run does not test the prediction; `null` when it does. */
  readonly undecided: string | null;
}
