import type { Finding, JudgedPhase, LoadSecond } from "../../record/index.ts";
import type { Running } from "../send/send-share.ts";
import type { HealthBounds } from "./generator-health.ts";
import { quantilesOf } from "./second-series.ts";
import type { Tally } from "./tally.ts";

/** Progress of a load run. Rates and quantiles cover the last interval. */
export interface LoadProgress {
  readonly run: string;
  readonly phase: string;
  readonly elapsedS: number;
  /** `undefined` if the number of requests ends it. */
  readonly totalS: number | undefined;
  /** Approximate time until the run ends; absent if it ends with the phase. */
  readonly runLeftS?: number | undefined;
  /** What the run waits for with nothing in flight, and for how long. */
  readonly waiting?: { readonly what: string; readonly leftS: number } | undefined;
  readonly inFlight: number;
  /** Requests written to the network, whether or not they have ended. */
  readonly sentPerS: number;
  readonly admittedPerS: number;
  /** Totals so far; absent if another engine counts. */
  readonly counts?: Readonly<Tally["total"]>;
  /** Total so far. */
  readonly denied: number;
  readonly failed: number;
  /** Absent for an engine that does not report it during the run. */
  readonly invalid?: number;
  /** E2E latency of the admitted requests of each mode; absent if it is only known at the end of the run. */
  readonly responseByModeMs?: ResponseByMode;
}

/** A running phase, for live display. Reading it never blocks the sender. */
export interface RunningPhase extends Omit<Running, "outcomes"> {
  readonly outcomes: { readonly close: () => Pick<JudgedPhase, "denials"> };
  readonly run: string;
  readonly name: string;
  /** Start of the run on the clock of `nowUs`. */
  readonly originUs: number;
  /** `undefined` if the number of requests ends it. */
  readonly totalS: number | undefined;
  /** Total duration of the remaining phases of its run, s; absent if there are none. */
  readonly laterS?: number;
  /** Limits on the generator's lag. */
  readonly bounds: HealthBounds;
  /** Recent delay of the event loops that send it; absent if this thread sends it. */
  readonly loopDelayP99Ms?: number;
  /** The thresholds of its workload, judged by what was measured so far; absent without thresholds. */
  readonly judgeThresholds?: (() => readonly Finding[]) | undefined;
}

type ResponseByMode = LoadSecond["responseByModeMs"];

/** Computes progress from the counters of a tally, between calls. */
export class ProgressMeter {
  #atS = 0;
  #sent = 0;
  #admitted = 0;
  #latest: ResponseByMode = { streaming: null, nonStreaming: null };

  read(
    tally: Pick<Tally, "total" | "running">,
    now: Pick<LoadProgress, "run" | "phase" | "elapsedS" | "totalS" | "runLeftS" | "waiting" | "inFlight">,
  ): LoadProgress {
    const { total, running } = tally;
    // A tally counts a request when it ends.
    const sent = total.sent + now.inFlight;
    const spanS = Math.max(0.001, now.elapsedS - this.#atS);
    // A second that has just begun has no data yet: keep the values of the previous one.
    this.#latest = {
      streaming: quantilesOf(running.streaming) ?? this.#latest.streaming,
      nonStreaming: quantilesOf(running.nonStreaming) ?? this.#latest.nonStreaming,
    };
    const progress = {
      ...now,
      sentPerS: Math.max(0, sent - this.#sent) / spanS,
      admittedPerS: Math.max(0, total.admitted - this.#admitted) / spanS,
      counts: { ...total, sent },
      denied: total.denied,
      failed: total.failed,
      invalid: total.invalid,
      responseByModeMs: this.#latest,
    };
    this.#atS = now.elapsedS;
    this.#sent = sent;
    this.#admitted = total.admitted;
    return progress;
  }
}
