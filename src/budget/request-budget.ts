import { EXIT, GauntletError } from "../core/index.ts";

/** Thrown when nothing more may be sent. The check or load that tried to send reports it. */
export class BudgetReached extends GauntletError {
  readonly code = "BUDGET_REACHED";
  readonly exit = EXIT.inconclusive;
}

/** What a command may send. */
export interface Allowance {
  readonly requests: number;
  readonly outputTokens: number;
}

/** Requests reserved for one check or one load. A `RequestBudget` creates it. */
export class Share {
  readonly planned: number;
  // Private, so that no other object can pass as a share.
  #sent = 0;
  constructor(planned: number) {
    this.planned = planned;
  }

  /** Reserved requests that have not been sent. */
  get unused(): number {
    return Math.max(0, this.planned - this.#sent);
  }

  count(): void {
    this.#sent++;
  }
}

/**
 * Counts what a command has sent and used, and stops it at its limits. Every sender needs one. Only `src/run` creates it, for
 * the printed plan.
 *
 * Requests are reserved for remaining work, so a check that exceeds its plan can only use unreserved requests.
 */
export class RequestBudget {
  #allowed: Allowance;
  #requests = 0;
  #outputTokens = 0;
  readonly #shares = new Set<Share>();

  constructor(allowed: Allowance) {
    this.#allowed = allowed;
  }

  get allowed(): Allowance {
    return this.#allowed;
  }

  /** Allows more requests, for an additional plan that was printed. */
  grant(requests: number): void {
    this.#allowed = { ...this.#allowed, requests: this.#allowed.requests + requests };
  }

  /** Requests sent so far, excluding load that is still running. */
  get requests(): number {
    return this.#requests;
  }

  /** Output tokens of all responses, as counted by the gateway; estimated where it does not count. */
  get outputTokens(): number {
    return this.#outputTokens;
  }

  /** Reserves requests until `release`. */
  setAside(planned: number): Share {
    const share = new Share(planned);
    this.#shares.add(share);
    return share;
  }

  /** Ends a share. Others can use the rest of it. */
  release(share: Share): void {
    this.#shares.delete(share);
  }

  /** Counts a request that is about to be sent. @throws BudgetReached if the budget is exhausted. */
  start(share?: Share): void {
    const { requests, outputTokens } = this.allowed;
    const hasOwn = share !== undefined && share.unused > 0;
    if (this.#requests >= requests || (!hasOwn && this.#free <= 0)) throw usedUp("requests", requests);
    if (this.#outputTokens > outputTokens) throw usedUp("output tokens", outputTokens);
    this.#requests++;
    share?.count();
  }

  /**
   * Reserves requests for load, which counts its own requests. The share ends with `spend`.
   *
   * @throws BudgetReached if fewer are left.
   */
  reserve(requests: number): Share {
    if (!(requests <= this.#free)) throw usedUp("requests", this.allowed.requests);
    return this.setAside(requests);
  }

  /** Counts what load has sent of its share, and ends the share. */
  spend(share: Share, { requests, outputTokens }: Allowance): void {
    this.release(share);
    this.#requests += requests;
    this.#outputTokens += outputTokens;
  }

  /** What may still be sent, including the unused part of `share`. */
  left(share?: Share): Allowance {
    const own = share === undefined ? 0 : share.unused;
    return {
      requests: Math.max(0, this.#free) + own,
      outputTokens: Math.max(0, this.allowed.outputTokens - this.#outputTokens),
    };
  }

  /** Counts the output of a response. */
  note(outputTokens: number): void {
    this.#outputTokens += outputTokens;
  }

  /** Requests that are not reserved. */
  get #free(): number {
    const reserved = [...this.#shares].reduce((sum, share) => sum + share.unused, 0);
    return this.allowed.requests - this.#requests - reserved;
  }
}

function usedUp(what: string, count: number): BudgetReached {
  return new BudgetReached(`the budget of ${count} ${what} is used up`, {
    hint: "Increase `budget` in the target file, or select less.",
  });
}
