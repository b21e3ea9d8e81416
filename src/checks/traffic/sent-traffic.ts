import type { RequestBudget, Share } from "../../budget/index.ts";
import { outputTokensOf } from "../response/output-tokens.ts";
import type { Response } from "../response/response.ts";

interface SentTrafficOptions {
  readonly budget: RequestBudget;
  /** Monotonic, ms. */
  readonly nowMs: () => number;
  readonly inFlightOfLoad: () => number;
}

/** What a conformance run has sent. The budget may cover more than that. */
export class SentTraffic {
  readonly #options: SentTrafficOptions;
  readonly #lastUsedMs = new Map<string, number>();
  #inFlight = 0;
  #requests = 0;
  #charged = 0;
  #outputTokens = 0;

  constructor(options: SentTrafficOptions) {
    this.#options = options;
  }

  get requests(): number {
    return this.#requests;
  }

  /** Served inference requests, which may have been billed. */
  get charged(): number {
    return this.#charged;
  }

  /** As counted by the gateway, otherwise estimated. */
  get outputTokens(): number {
    return this.#outputTokens;
  }

  /** Requests in flight on all accounts, including load. */
  get inFlight(): number {
    return this.#inFlight + this.#options.inFlightOfLoad();
  }

  /** How long ago something was last sent on an account, including earlier rounds, ms; infinite if never. */
  unusedForMs(account: string): number {
    return this.#options.nowMs() - (this.#lastUsedMs.get(account) ?? Number.NEGATIVE_INFINITY);
  }

  /** Takes a request from the budget. @param share the part of the budget reserved for the check that sends it. */
  spend(share: Share | undefined): void {
    this.#options.budget.start(share);
    this.#requests++;
  }

  /** A request on an account is about to be sent. */
  started(account: string): void {
    this.#lastUsedMs.set(account, this.#options.nowMs());
    this.#inFlight++;
  }

  ended(): void {
    this.#inFlight--;
  }

  count(response: Response): void {
    const { status, requested } = response;
    const outputTokens = outputTokensOf(response);
    this.#options.budget.note(outputTokens);
    this.#outputTokens += outputTokens;
    if (status !== undefined && status < 300 && requested.endpoint !== "models") this.#charged++;
  }
}
