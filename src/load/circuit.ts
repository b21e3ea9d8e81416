import type { Target } from "../target/index.ts";
import type { LoadExchange } from "./http/load-exchange.ts";
import type { Came } from "./outcome.ts";

/** Refusals from the start without a single admission, after which the key or the account is taken for unusable. */
const REFUSALS = 20;

/**
 * Opens when it is of no use, or harmful, to go on: nothing but 401 or 402 from the start, or a target that fails nearly
 * everything it is sent. Denials by limits are what load is for and never open it.
 */
export class Circuit {
  readonly #rule: Target["circuit"];
  /** Of the last requests, whether each failed. */
  readonly #last: boolean[] = [];
  #failed = 0;
  #refused = 0;
  #admitted = false;
  readonly #open = new AbortController();
  #why: string | undefined;

  /** @param rule share of failed requests, and of how many; `undefined`: only refusals open it. */
  constructor(rule: Target["circuit"]) {
    this.#rule = rule;
  }

  /** Fires when it opens. */
  get signal(): AbortSignal {
    return this.#open.signal;
  }

  /** Why it opened; `undefined` while it is closed. */
  get why(): string | undefined {
    return this.#why;
  }

  note({ status }: Pick<LoadExchange, "status">, came: Came): void {
    if (this.#why !== undefined || came.what === "aborted") return;
    if (came.outcome === "admitted" || came.outcome === "unfinished") this.#admitted = true;
    if (!this.#admitted && came.outcome === "denied" && (status === 401 || status === 402)) {
      this.#refused++;
      if (this.#refused >= REFUSALS)
        this.#opened(`each of the first ${REFUSALS} requests was refused (${status} ${came.what})`);
      return;
    }
    if (this.#rule === undefined) return;
    const { failedShare, requests } = this.#rule;
    const failed = came.outcome === "failed";
    this.#last.push(failed);
    if (failed) this.#failed++;
    if (this.#last.length > requests && this.#last.shift() === true) this.#failed--;
    if (this.#last.length >= requests && this.#failed >= failedShare * requests)
      this.#opened(`${this.#failed} of the last ${requests} requests failed, last with ${came.what}`);
  }

  #opened(why: string): void {
    this.#why = why;
    this.#open.abort();
  }
}
