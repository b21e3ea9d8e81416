import { EXIT, GauntletError } from "../core/index.ts";
import type { Target } from "../target/index.ts";
import type { Answer } from "./answer.ts";
import { outputTokensOf } from "./output-tokens.ts";

/** A budget of the target is used up: the run stops and says so. */
export class BudgetReached extends GauntletError {
  readonly code = "BUDGET_REACHED";
  readonly exit = EXIT.inconclusive;
}

/** What a run has sent and used so far, held against the budget of its target. */
export class Spent {
  /** Requests sent. */
  requests = 0;
  /** Requests for replies that were served, and so may have been charged. */
  served = 0;
  /** Output tokens of all answers: as the gateway counts them, estimated where it does not. */
  outputTokens = 0;
  readonly #budget: () => Target["budget"];

  constructor(budget: () => Target["budget"]) {
    this.#budget = budget;
  }

  /** Counts a request that is about to be sent. @throws BudgetReached when there is no budget for it. */
  begin(): void {
    const { requests, outputTokens } = this.#budget();
    if (++this.requests > requests) throw usedUp("requests", `${requests} requests`);
    if (this.outputTokens > outputTokens) throw usedUp("outputTokens", `${outputTokens} output tokens`);
  }

  /** What the budget still has room for. */
  get left(): { readonly requests: number; readonly outputTokens: number } {
    const { requests, outputTokens } = this.#budget();
    return {
      requests: Math.max(0, requests - this.requests),
      outputTokens: Math.max(0, outputTokens - this.outputTokens),
    };
  }

  note(answer: Answer): void {
    this.outputTokens += outputTokensOf(answer);
    if (answer.status !== undefined && answer.status < 300 && answer.asked.endpoint !== "models") this.served++;
  }
}

function usedUp(field: keyof Target["budget"], what: string): BudgetReached {
  return new BudgetReached(`the budget of ${what} is used up`, {
    hint: `Raise budget.${field} in the target file, or select fewer suites.`,
  });
}
