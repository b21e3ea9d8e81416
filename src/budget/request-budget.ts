import { EXIT, GauntletError } from "../core/index.ts";

/** Nothing more may be sent: the check or the load that wanted to says so. */
export class BudgetReached extends GauntletError {
  readonly code = "BUDGET_REACHED";
  readonly exit = EXIT.inconclusive;
}

/** What a command may send. */
export interface Allowance {
  readonly requests: number;
  readonly outputTokens: number;
}

/** Requests that are set aside for one check or one load. A `RequestBudget` gives it out. */
export class Share {
  readonly planned: number;
  // Private, so that an object with the same fields is no permission to send.
  #sent = 0;
  constructor(planned: number) {
    this.planned = planned;
  }

  /** Requests that are set aside and not sent. */
  get unused(): number {
    return Math.max(0, this.planned - this.#sent);
  }

  count(): void {
    this.#sent++;
  }
}

/**
 * What a command has sent and used so far, against what it may. Everything that sends takes one, and only `src/run` makes one: for
 * the plan that it has printed.
 *
 * Requests are set aside for what is still to come: whatever sends more than was planned for it takes only what nobody else needs.
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

  /** Allows more requests, for a plan that was printed after the first. */
  grant(requests: number): void {
    this.#allowed = { ...this.#allowed, requests: this.#allowed.requests + requests };
  }

  /** Requests sent, those of load that is still under way not included. */
  get requests(): number {
    return this.#requests;
  }

  /** Output tokens of all responses: as the gateway counts them, estimated where it does not. */
  get outputTokens(): number {
    return this.#outputTokens;
  }

  /** Sets requests aside. The share ends with `release`. */
  setAside(planned: number): Share {
    const share = new Share(planned);
    this.#shares.add(share);
    return share;
  }

  /** What a share did not use is there for others. */
  release(share: Share): void {
    this.#shares.delete(share);
  }

  /** Counts a request that is about to be sent. @throws BudgetReached when there is no budget for it. */
  start(share?: Share): void {
    const { requests, outputTokens } = this.allowed;
    const hasOwn = share !== undefined && share.unused > 0;
    if (this.#requests >= requests || (!hasOwn && this.#free <= 0)) throw usedUp("requests", requests);
    if (this.#outputTokens > outputTokens) throw usedUp("output tokens", outputTokens);
    this.#requests++;
    share?.count();
  }

  /**
   * Sets requests aside for load, which counts for itself what it sends. The share ends with `spend`.
   *
   * @throws BudgetReached when there are fewer left.
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

  /** What there is still room for; for the holder of a share, with what is set aside for it. */
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

  /** What nobody has set aside. */
  get #free(): number {
    const held = [...this.#shares].reduce((sum, share) => sum + share.unused, 0);
    return this.allowed.requests - this.#requests - held;
  }
}

function usedUp(what: string, count: number): BudgetReached {
  return new BudgetReached(`the budget of ${count} ${what} is used up`, {
    hint: "Raise budget in the target file, or select less.",
  });
}
