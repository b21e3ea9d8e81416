import type { JudgedPhase, LoadRun, LoadVerdict } from "./load-section.ts";

/** A load run before its verdicts are added to the checks. */
export interface JudgedRun extends Omit<LoadRun, "phases"> {
  readonly phases: JudgedPhase[];
  readonly verdict: LoadVerdict;
  readonly reasons: readonly LoadReason[];
}

/** Why a load run has its verdict. */
export interface LoadReason {
  readonly text: string;
  /** The phase that says so; absent: the run as a whole. */
  readonly phase?: string;
}

export interface JudgedLoad {
  readonly runs: JudgedRun[];
}
