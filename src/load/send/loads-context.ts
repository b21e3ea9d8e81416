import type { JudgedPhase } from "../../record/index.ts";
import type { Calibration } from "../calibration/calibrate.ts";
import type { LoadProgress } from "../measure/progress.ts";
import type { TierLength } from "../tier/tier-phase.ts";
import type { LoadContext } from "./run-workload.ts";

/** k6 on this machine. */
export interface K6Options {
  readonly path: string;
  readonly instances: number;
  /** Folder of the run; plan and raw outputs are written to `k6/` in it. */
  readonly folder: string;
}

/** What the loads of one run share. */
export interface LoadsContext extends Omit<LoadContext, "keys" | "calibration"> {
  readonly workers: number;
  readonly length: TierLength;
  readonly onProgress: (progress: LoadProgress) => void;
  /** Steps that take a while before the load begins. */
  readonly onStep: (text: string) => void;
  /** Receives one-line notices for the user. */
  readonly onNotice: (text: string) => void;
  readonly onPhase: (run: string, phase: JudgedPhase) => void;
  /** Calibration of this machine, if it was just measured; otherwise tier runs measure it first. */
  readonly calibration?: Calibration | undefined;
  /** For workloads that k6 plays. */
  readonly k6?: K6Options | undefined;
}
