import type { Silence } from "../core/index.ts";
import type { Redactor } from "../http-recorder/index.ts";
import type {
  Calibration,
  LoadGauge,
  LoadProgress,
  OnSpan,
  RunningPhase,
  Sample,
  ShardPart,
  TierLength,
  Until,
} from "../load/index.ts";
import type { JudgedPhase } from "../record/index.ts";
import type { Target } from "../target/index.ts";

/** k6 on this machine. */
export interface K6Options {
  readonly path: string;
  readonly instances: number;
  /** Folder of the run; plan and raw outputs are left in `k6/` in it. */
  readonly folder: string;
}

/** What the loads of one run share. */
export interface LoadsContext {
  readonly target: Target;
  readonly seed: number;
  readonly redactor: Redactor;
  readonly workers: number;
  readonly length: TierLength;
  /** Most output tokens of each run, where the target names a budget. */
  readonly outputTokens?: number | undefined;
  readonly stop: AbortSignal;
  readonly abort: AbortSignal;
  readonly onProgress: (progress: LoadProgress) => void;
  /** What takes a while before the load begins. */
  readonly onStep: (text: string) => void;
  /** One line for whoever started the run. */
  readonly onNotice: (text: string) => void;
  readonly onSample: (sample: Sample) => void;
  readonly onPhase: (run: string, phase: JudgedPhase) => void;
  /** Told how to read each phase that our own engine sends, when it begins. */
  readonly onRunning?: ((phase: RunningPhase) => void) | undefined;
  /** Told of requests of a sample, which are sent with a `traceparent`; without it, none is. */
  readonly onSpan?: OnSpan | undefined;
  /** Told how to read the traffic of each tier run. */
  readonly onGauge?: ((gauge: LoadGauge) => void) | undefined;
  /** What checks beside tier runs may want. */
  readonly silence?: Silence | undefined;
  /** Of this machine, where it was measured just now; otherwise tier runs measure it before they begin. */
  readonly calibration?: Calibration | undefined;
  /** Of a load that several processes send. */
  readonly shard?: ShardPart | undefined;
  /** Ends the load as soon as this is known. */
  readonly until?: Until | undefined;
  /** For workloads that k6 plays. */
  readonly k6?: K6Options | undefined;
}
