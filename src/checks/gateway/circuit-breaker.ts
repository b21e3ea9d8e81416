import { EXIT, GauntletError, median } from "../../core/index.ts";
import type { Response } from "../response/response.ts";

/** Thrown when continuing is pointless: the run stops and reports it. */
export class CircuitOpen extends GauntletError {
  readonly code = "CIRCUIT_OPEN";
  readonly exit = EXIT.inconclusive;
}

/** Valid requests without a single admission after which a run stops: enough to judge everything that a refusal breaks. */
const REFUSALS = 240;

/** Number of plain replies at the start whose median is the baseline of a fresh gateway. */
const FIRST = 12;
/** Length of a window, ms, and the minimum number of plain replies in each: a single stall cannot fill two windows. */
const SPAN_MS = 30_000;
const FEWEST = 5;
/**
 * How many times slower than at first, and how slow at least, ms, before the run would take hours: more than queueing explains
 * in a gateway that processes one request at a time, with as many in flight as conformance sends.
 */
const SLOWER = 30;
const SLOW_MS = 3_000;

/**
 * Decides when a conformance run is pointless: every valid request is refused with 401 or 402, or replies become slower and
 * slower. A gateway that hangs or fails is judged to the end, because the run is meant to find where. A gateway that no longer
 * responds to anything is not (`Liveness`).
 */
export class CircuitBreaker {
  #refused = 0;
  #admitted = false;
  /** Durations of plain replies, ms: the first ones, and those of the last two windows. */
  readonly #firstMs: number[] = [];
  readonly #latest: { readonly atMs: number; readonly durationMs: number }[] = [];
  opened: CircuitOpen | undefined;

  /** @param isPlain whether the plain model replies to a plain prompt: other models are slow on purpose. */
  note(response: Response, isPlain: boolean): void {
    const { status, requested } = response;
    if (requested.intent !== "valid" || this.opened !== undefined) return;
    // Listing models is often free, so it says nothing about the account.
    const isReply = response.admitted && requested.endpoint !== "models";
    if (isReply) this.#admitted = true;
    else if (status === 401 || status === 402) this.#refused++;
    if (isReply && isPlain) this.#noteReply(response);
    if (!this.#admitted && this.#refused >= REFUSALS)
      this.#give(
        `every valid request was refused, ${REFUSALS} of them (last: ${response.summary})`,
        "Run `gauntlet doctor` to check that keys.valid is an active key of an account with balance.",
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
      `the gateway becomes slower and slower: a plain reply took ${Math.round(firstMs)} ms at the start and now takes ${Math.round(latestMs)} ms`,
      "Look for what grows with every request: a list that is searched, a log, a connection pool.",
    );
  }

  /** Median duration of the replies in a window; 0 if there are too few. */
  #middleMs(fromMs: number): number {
    const own = this.#latest.filter(({ atMs }) => atMs >= fromMs && atMs < fromMs + SPAN_MS);
    return own.length < FEWEST ? 0 : median(own.map(({ durationMs }) => durationMs));
  }

  #give(why: string, hint: string): void {
    this.opened = new CircuitOpen(`the run stopped early: ${why}`, { hint });
  }
}
