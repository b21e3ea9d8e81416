import type { Histogram } from "../metrics/index.ts";
import type { JudgedPhase } from "../record/index.ts";
import type { HealthBounds } from "./generator-health.ts";
import type { Running } from "./send-share.ts";
import type { Tally } from "./tally.ts";

/** How far a load run is. Rates and quantiles are those of the last interval. */
export interface LoadProgress {
  readonly run: string;
  readonly phase: string;
  readonly elapsedS: number;
  /** `undefined` when it ends by the number of requests. */
  readonly totalS: number | undefined;
  /** Until the run ends, about; absent where that is the end of the phase. */
  readonly runLeftS?: number | undefined;
  /** What the run waits for with nothing under way, and for how long still. */
  readonly waiting?: { readonly what: string; readonly leftS: number } | undefined;
  readonly inFlight: number;
  readonly sentPerS: number;
  readonly admittedPerS: number;
  /** Everything so far; absent where another engine counts. */
  readonly counts?: Readonly<Tally["total"]>;
  /** So far. */
  readonly denied: number;
  readonly failed: number;
  /** Absent for an engine that does not report it while it sends. */
  readonly invalid?: number;
  /** `undefined` where only the end of the run will tell. */
  readonly p50Ms: number | undefined;
  readonly p95Ms: number | undefined;
  readonly p99Ms: number | undefined;
}

/** A phase that is being sent, for whoever watches. It is read; what sends it waits for nobody. */
export interface RunningPhase extends Omit<Running, "outcomes"> {
  readonly outcomes: { readonly close: () => Pick<JudgedPhase, "denials"> };
  readonly run: string;
  /** Of the phase. */
  readonly name: string;
  /** Beginning of the run on the clock of `nowUs`. */
  readonly originUs: number;
  /** `undefined` when it ends by the number of requests. */
  readonly totalS: number | undefined;
  /** What the generator may be late by. */
  readonly bounds: HealthBounds;
  /** Delay of the event loops that send it, of late; absent where this thread's sends it. */
  readonly loopDelayP99Ms?: number;
}

const ms = (histogram: Histogram, share: number): number => histogram.quantileUs(share) / 1_000;

/** Turns the counters of a tally into progress, from one call to the next. */
export class ProgressMeter {
  #atS = 0;
  #sent = 0;
  #admitted = 0;
  #latest: Pick<LoadProgress, "p50Ms" | "p95Ms" | "p99Ms"> = { p50Ms: undefined, p95Ms: undefined, p99Ms: undefined };

  read(
    tally: Pick<Tally, "total" | "running">,
    now: Pick<LoadProgress, "run" | "phase" | "elapsedS" | "totalS" | "runLeftS" | "waiting" | "inFlight">,
  ): LoadProgress {
    const { total, running } = tally;
    const spanS = Math.max(0.001, now.elapsedS - this.#atS);
    // A second that has just begun says nothing yet: the last one that did stands.
    if (running.count > 0) {
      this.#latest = { p50Ms: ms(running, 0.5), p95Ms: ms(running, 0.95), p99Ms: ms(running, 0.99) };
    }
    const progress = {
      ...now,
      sentPerS: Math.max(0, total.sent - this.#sent) / spanS,
      admittedPerS: Math.max(0, total.admitted - this.#admitted) / spanS,
      counts: { ...total },
      denied: total.denied,
      failed: total.failed,
      invalid: total.invalid,
      ...this.#latest,
    };
    this.#atS = now.elapsedS;
    this.#sent = total.sent;
    this.#admitted = total.admitted;
    return progress;
  }
}
