import { median } from "../../core/index.ts";
import type { Response } from "../response/response.ts";

/** Number of plain replies whose durations are kept: the first ones, when the gateway is fresh. */
const KEPT = 24;
/** Reply time, ms, above which a run can have more requests in flight. */
const QUICK_MS = 150;
/** Concurrent checks with a gateway that replies immediately; the long waits take four of them. */
export const PARALLEL = 12;
/** Requests of the longest series of a run, one after another. */
const MAX_SERIES = 15;
/** Upper bound of `parallelFactor`. A slower gateway would get more concurrent requests than from any of its clients. */
const MAX_FACTOR = 8;

/** How long the gateway takes for a plain reply, measured on the run's own requests. */
export class ReplyTimes {
  readonly #durationsMs: number[] = [];

  note({ admitted, durationMs, requested }: Response): void {
    if (admitted && requested.endpoint !== "models" && this.#durationsMs.length < KEPT)
      this.#durationsMs.push(durationMs);
  }

  /** Median duration, ms; 0 if nothing was served yet. */
  get medianMs(): number {
    return this.#durationsMs.length === 0 ? 0 : median(this.#durationsMs);
  }

  /** Approximate duration of a run with this gateway, seconds: as planned, or as long as its requests wait for replies. */
  durationS({ requests, durationS }: { readonly requests: number; readonly durationS: number }): number {
    const latencyS = this.medianMs / 1_000;
    const waitingS = (requests * latencyS) / (PARALLEL * this.parallelFactor);
    return Math.ceil(Math.max(durationS, waitingS) + MAX_SERIES * latencyS);
  }

  /**
   * How many times more requests may be in flight than with a gateway that replies immediately: most of them wait for a model,
   * which takes no time on this machine.
   */
  get parallelFactor(): number {
    return Math.min(MAX_FACTOR, Math.max(1, this.medianMs / QUICK_MS));
  }

  /** Requests of a series that are sent together, so that slow replies do not delay the run; 1 if replies are immediate. */
  get concurrentRequests(): number {
    return Math.round(this.parallelFactor);
  }
}
