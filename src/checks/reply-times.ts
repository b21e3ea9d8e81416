import { median } from "../core/index.ts";
import type { Response } from "./response.ts";

/** Plain replies whose durations are kept: the first ones, when the gateway is fresh. */
const KEPT = 24;
/** Replies that take longer leave a run time to have more requests under way, ms. */
const QUICK_MS = 150;
/** Checks at once with a gateway that replies at once, of which the long waits take four. */
export const PARALLEL = 12;
/** Requests of the longest series of a run, one after the other. */
const MAX_SERIES = 15;
/** How many times more. A gateway that is slower than that would be asked to do more at once than any client of it. */
const MAX_FACTOR = 8;

/** How long the gateway takes for a plain reply, from the requests of the run itself. */
export class ReplyTimes {
  readonly #durationsMs: number[] = [];

  /** Notes a plain reply. */
  note({ admitted, durationMs, requested }: Response): void {
    if (admitted && requested.endpoint !== "models" && this.#durationsMs.length < KEPT)
      this.#durationsMs.push(durationMs);
  }

  /** Middle duration, ms; 0 if nothing was served yet. */
  get medianMs(): number {
    return this.#durationsMs.length === 0 ? 0 : median(this.#durationsMs);
  }

  /** How long a run takes with this gateway, seconds, about: as planned, or as long as its requests wait for replies. */
  durationS({ requests, durationS }: { readonly requests: number; readonly durationS: number }): number {
    const latencyS = this.medianMs / 1_000;
    const waitingS = (requests * latencyS) / (PARALLEL * this.parallelFactor);
    return Math.ceil(Math.max(durationS, waitingS) + MAX_SERIES * latencyS);
  }

  /**
   * How many times more requests may be under way than with a gateway that replies at once: most of them wait for a model, which takes this
   * machine no time.
   */
  get parallelFactor(): number {
    return Math.min(MAX_FACTOR, Math.max(1, this.medianMs / QUICK_MS));
  }
}
