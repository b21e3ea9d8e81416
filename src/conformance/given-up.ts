import { EXIT, GauntletError } from "../core/index.ts";
import type { Answer } from "./answer.ts";

/** It is of no use to go on: the run stops and says so. */
export class RunGivenUp extends GauntletError {
  readonly code = "GIVEN_UP";
  readonly exit = EXIT.inconclusive;
}

/** Good requests without one admission after which a run gives up: enough to judge what a refusal breaks. */
const REFUSALS = 240;
/** Good requests in a row that found nobody listening. */
const UNREACHED = 60;

/**
 * Decides when a conformance run only hammers: every good request is refused with 401 or 402, or nothing listens any more.
 * A gateway that hangs, or fails, is judged to the end: where it does so is what the run is for.
 */
export class GivenUp {
  #refused = 0;
  #unreached = 0;
  #admitted = false;
  up: RunGivenUp | undefined;

  note(answer: Answer): void {
    const { status, asked, exchange } = answer;
    if (asked.intent !== "good" || this.up !== undefined) return;
    this.#unreached = exchange.ending.kind === "unreachable" ? this.#unreached + 1 : 0;
    // A list of models is often free: it says nothing about the account.
    if (answer.admitted && asked.endpoint !== "models") this.#admitted = true;
    else if (status === 401 || status === 402) this.#refused++;
    if (this.#unreached >= UNREACHED)
      this.#give(`nothing answers any more: ${UNREACHED} good requests in a row found nobody`, "Start it again.");
    else if (!this.#admitted && this.#refused >= REFUSALS)
      this.#give(
        `every good request was refused, ${REFUSALS} of them (last: ${answer.summary})`,
        "See whether keys.valid is an active key of an account with balance: `gauntlet doctor`.",
      );
  }

  #give(why: string, hint: string): void {
    this.up = new RunGivenUp(`the run stopped early: ${why}`, { hint });
  }
}
