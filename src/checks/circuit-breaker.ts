import { EXIT, GauntletError, median } from "../core/index.ts";
import type { Response } from "./response.ts";

/** It is of no use to go on: the run stops and says so. */
export class CircuitOpen extends GauntletError {
  readonly code = "CIRCUIT_OPEN";
  readonly exit = EXIT.inconclusive;
}

/** Good requests without one admission after which a run gives up: enough to judge what a refusal breaks. */
const REFUSALS = 240;

/** Plain replies at the beginning, whose middle is what the gateway takes when it is fresh. */
const FIRST = 12;
/** Spans of time, ms, and plain replies in each: a moment in which everything stood still fills no two of them. */
const SPAN_MS = 30_000;
const FEWEST = 5;
/**
 * How much slower they are, and how slow at least, ms, when to go on would take hours: more than the queue of a gateway explains
 * that works on one request at a time, as many at once as conformance sends.
 */
const SLOWER = 30;
const SLOW_MS = 3_000;

/**
 * Decides when a conformance run is pointless: every valid request is refused with 401 or 402, or every reply takes longer than the one
 * before. A gateway that hangs or fails is judged to the end, because the run is meant to find where. A gateway that no longer responds to
 * anything is not (`Liveness`).
 */
export class CircuitBreaker {
  #refused = 0;
  #admitted = false;
  /** How long plain replies took, ms: the first ones, and those of the last two spans. */
  readonly #firstMs: number[] = [];
  readonly #latest: { readonly atMs: number; readonly durationMs: number }[] = [];
  opened: CircuitOpen | undefined;

  /** @param isPlain whether it answers a plain prompt by the plain model: other models are slow on purpose. */
  note(response: Response, isPlain: boolean): void {
    const { status, requested } = response;
    if (requested.intent !== "good" || this.opened !== undefined) return;
    // A list of models is often free: it says nothing about the account.
    if (response.admitted && requested.endpoint !== "models") this.#admitted = true;
    else if (status === 401 || status === 402) this.#refused++;
    if (response.admitted && isPlain && requested.endpoint !== "models") this.#noteReply(response);
    if (!this.#admitted && this.#refused >= REFUSALS)
      this.#give(
        `every valid request was refused, ${REFUSALS} of them (last: ${response.summary})`,
        "See whether keys.valid is an active key of an account with balance: `gauntlet doctor`.",
      );
  }

  #noteReply({ durationMs, exchange }: Response): void {
    if (this.#firstMs.length < FIRST) {
      this.#firstMs.push(durationMs);
      return;
    }
    const nowMs = exchange.timeline.endUs / 1_000;
    this.#latest.push({ atMs: nowMs, durationMs });
    while ((this.#latest[0]?.atMs ?? nowMs) < nowMs - 2 * SPAN_MS) this.#latest.shift();
    const firstMs = median(this.#firstMs);
    const latestMs = Math.min(this.#middleMs(nowMs - 2 * SPAN_MS), this.#middleMs(nowMs - SPAN_MS));
    if (latestMs < SLOW_MS || latestMs < firstMs * SLOWER) return;
    this.#give(
      `the gateway becomes slower and slower: a plain reply took ${Math.round(firstMs)} ms at first and ${Math.round(latestMs)} ms of late`,
      "Look for what grows with every request: a list that is searched, a log, a connection pool.",
    );
  }

  /** How long replies of a span took, in the middle; 0 where there are too few to say. */
  #middleMs(fromMs: number): number {
    const own = this.#latest.filter(({ atMs }) => atMs >= fromMs && atMs < fromMs + SPAN_MS);
    return own.length < FEWEST ? 0 : median(own.map(({ durationMs }) => durationMs));
  }

  #give(why: string, hint: string): void {
    this.opened = new CircuitOpen(`the run stopped early: ${why}`, { hint });
  }
}
