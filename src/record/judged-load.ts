import type { CheckResult } from "./check-result.ts";
import type { UndecidedReason } from "./finding.ts";
import type { JudgedPhase, LoadRun, LoadVerdict } from "./sections/load-section.ts";

/** A load run before its verdicts are added to the checks. */
export interface JudgedRun extends Omit<LoadRun, "phases"> {
  readonly phases: JudgedPhase[];
  readonly verdict: LoadVerdict;
  readonly reasons: readonly LoadReason[];
  /** The result of each threshold of the workload, in its order; its only finding has the threshold as its name. */
  readonly thresholds?: readonly Pick<CheckResult, "status" | "message" | "reason" | "findings">[];
  /** The result of the workload's events, if it has any. */
  readonly disturbance?: Pick<CheckResult, "status" | "message" | "reason" | "findings">;
  /** The threshold that ended the load early, if one did. */
  readonly endedBy?: EndingThreshold;
}

/** A threshold of a workload that ended its load early. */
export interface EndingThreshold {
  /** As in the workload. */
  readonly threshold: string;
  /** The figure that crossed it, as text. */
  readonly figure: string;
  /** Seconds from the start of the measurement. */
  readonly afterS: number;
  /** How much was sent; absent if the plan has no duration or no number of requests. */
  readonly progress?: { readonly plannedS: number; readonly sent: number; readonly plannedRequests: number };
}

/** Why a load run has its verdict. */
export interface LoadReason {
  readonly text: string;
  /** The phase that says so; absent: the run as a whole. */
  readonly phase?: string;
  /** The same as data, if it is a reason for which nothing could be decided. */
  readonly reason?: UndecidedReason;
}

export interface JudgedLoad {
  readonly runs: JudgedRun[];
}
