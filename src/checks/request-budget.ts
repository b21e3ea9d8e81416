import { EXIT, GauntletError } from "../core/index.ts";
import type { Target } from "../target/index.ts";
import { outputTokensOf } from "./output-tokens.ts";
import type { Response } from "./response.ts";

/** A budget of the target is used up: the check stops and says so. */
export class BudgetReached extends GauntletError {
  readonly code = "BUDGET_REACHED";
  readonly exit = EXIT.inconclusive;
}

/** What is set aside of the budget for one check, and what the check has sent. */
export interface Share {
  readonly planned: number;
  sent: number;
}

/**
 * What a run has sent and used so far, held against the budget of its target. Requests are set aside for the checks that are
 * still to come: one that sends more than was planned takes only what nobody else needs.
 */
export class RequestBudget {
  /** Requests sent. */
  requests = 0;
  /** Requests for replies that were served, and so may have been charged. */
  served = 0;
  /** Output tokens of all answers: as the gateway counts them, estimated where it does not. */
  outputTokens = 0;
  readonly #budget: () => Target["budget"];
  readonly #shares = new Set<Share>();

  constructor(budget: () => Target["budget"]) {
    this.#budget = budget;
  }

  /** Sets requests aside. The share ends with `release`. */
  setAside(planned: number): Share {
    const share = { planned, sent: 0 };
    this.#shares.add(share);
    return share;
  }

  /** What a share did not use is there for others. */
  release(share: Share): void {
    this.#shares.delete(share);
  }

  /** Counts a request that is about to be sent. @throws BudgetReached when there is no budget for it. */
  start(share?: Share): void {
    const { requests, outputTokens } = this.#budget();
    const hasOwn = share !== undefined && share.sent < share.planned;
    if (this.requests >= requests || (!hasOwn && this.#free <= 0)) throw usedUp("requests", `${requests} requests`);
    if (this.outputTokens > outputTokens) throw usedUp("outputTokens", `${outputTokens} output tokens`);
    this.requests++;
    if (share !== undefined) share.sent++;
  }

  /** What the budget still has room for, for the holder of a share. */
  left(share?: Share): { readonly requests: number; readonly outputTokens: number } {
    const { outputTokens } = this.#budget();
    const own = share === undefined ? 0 : unused(share);
    return {
      requests: Math.max(0, this.#free) + own,
      outputTokens: Math.max(0, outputTokens - this.outputTokens),
    };
  }

  note(answer: Response): void {
    this.outputTokens += outputTokensOf(answer);
    if (answer.status !== undefined && answer.status < 300 && answer.asked.endpoint !== "models") this.served++;
  }

  /** What nobody has set aside. */
  get #free(): number {
    const held = [...this.#shares].reduce((sum, share) => sum + unused(share), 0);
    return this.#budget().requests - this.requests - held;
  }
}

function unused({ planned, sent }: Share): number {
  return Math.max(0, planned - sent);
}

function usedUp(field: keyof Target["budget"], what: string): BudgetReached {
  return new BudgetReached(`the budget of ${what} is used up`, {
    hint: `Raise budget.${field} in the target file, or select fewer suites.`,
  });
}
