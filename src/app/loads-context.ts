import type { Calibration, LoadContext, LoadProgress, TierLength } from "../load/index.ts";
import type { JudgedPhase } from "../record/index.ts";

/** k6 on this machine. */
export interface K6Options {
  readonly path: string;
  readonly instances: number;
  /** Folder of the run; plan and raw outputs are left in `k6/` in it. */
  readonly folder: string;
}

/** What the loads of one run share. */
export interface LoadsContext extends Omit<LoadContext, "keys" | "calibration"> {
  readonly workers: number;
  readonly length: TierLength;
  readonly onProgress: (progress: LoadProgress) => void;
  /** What takes a while before the load begins. */
  readonly onStep: (text: string) => void;
  /** One line for whoever started the run. */
  readonly onNotice: (text: string) => void;
  readonly onPhase: (run: string, phase: JudgedPhase) => void;
  /** Of this machine, where it was measured just now; otherwise tier runs measure it before they begin. */
  readonly calibration?: Calibration | undefined;
  /** For workloads that k6 plays. */
  readonly k6?: K6Options | undefined;
}
