import { isLimitReason } from "../../dialects/index.ts";
import type { Target } from "../../target/index.ts";
import { limitsOfAccount } from "../fixtures/account-of-key.ts";
import type { Response } from "../response/response.ts";
import { Throttle } from "./throttle.ts";
import type { Wait } from "./traffic-options.ts";
import { isUndeclaredLimit } from "./undeclared-limit.ts";

/** Maximum wait after an ambient denial, ms; a longer Retry-After ends the attempt. */
const MAX_AMBIENT_WAIT_MS = 65_000;
/**
 * If a limit still denied a request after its wait, and another denial was expected, the limit is real: from then on, only
 * waits up to this long are observed, ms.
 */
const SHORT_AMBIENT_WAIT_MS = 8_000;
/** Shorter waits are not reported: they end before anybody can read the message. */
export const MIN_REPORTED_WAIT_MS = 2_000;

export interface PacingOptions {
  readonly target: () => Target;
  /** Monotonic, ms. */
  readonly nowMs: () => number;
  readonly signal: AbortSignal;
  readonly onWait: ((wait: Wait) => void) | undefined;
  /** How many times more requests may be in flight than with a gateway that replies immediately. */
  readonly factor: () => number;
}

/** Keeps the traffic of each account below its limits, and decides which rate or concurrency denials are waited out. */
export class Pacing {
  readonly #options: PacingOptions;
  readonly #throttles = new Map<string, Throttle>();
  /** Whether a request that should get another denial hit a limit even after the Retry-After wait. */
  #retryAfterIgnored = false;

  constructor(options: PacingOptions) {
    this.#options = options;
  }

  /** Waits for a slot of an account. @param by the waiting check. */
  async enter(account: string, by: string | undefined): Promise<Throttle> {
    const { signal, onWait } = this.#options;
    const throttle = this.throttleOf(account);
    await throttle.enter(signal, (what, forMs) => {
      const whose = account === "main" ? "key.valid" : account;
      if (forMs >= MIN_REPORTED_WAIT_MS) onWait?.({ what: `the ${what} of ${whose}`, forMs, by });
    });
    return throttle;
  }

  throttleOf(account: string): Throttle {
    const known = this.#throttles.get(account);
    if (known !== undefined) return known;
    const { target, nowMs, factor } = this.#options;
    const throttle = new Throttle(limitsOfAccount(target(), account), nowMs, factor);
    this.#throttles.set(account, throttle);
    return throttle;
  }

  /** Slows the account down after an ambient denial. @returns whether the denied request should be sent again. */
  slowDownFor(response: Response): boolean {
    const throttle = this.throttleOf(response.requested.account);
    const waitMs = throttle.isUnusable ? undefined : this.#ambientWaitMs(response);
    if (waitMs === undefined) return false;
    throttle.slowDown(response.reason ?? "rate_limit_exceeded", waitMs, response.exchange.timeline.dueUs / 1_000);
    return true;
  }

  /** Records the final response to a request, after all its repetitions. */
  noteFinal(response: Response): void {
    const { admitted, requested } = response;
    // A limit need not count the model list: that it is served says nothing about the account.
    if (admitted && requested.endpoint !== "models") this.throttleOf(requested.account).admitted();
    if (requested.intent === "denied" && requested.repeats !== undefined && this.#ambientWaitMs(response) !== undefined)
      this.#retryAfterIgnored = true;
  }

  /** Time to wait before an ambient denial is retried; `undefined` if it is not one. */
  #ambientWaitMs(response: Response): number | undefined {
    if (response.status !== 429) return undefined;
    if (!isLimitReason(response.reason) && !isUndeclaredLimit(response)) return undefined;
    const waitMs = response.retryAfterWaitMs ?? 1_000;
    const isMeant = response.requested.intent === "denied" && this.#retryAfterIgnored;
    const longestMs = isMeant ? SHORT_AMBIENT_WAIT_MS : MAX_AMBIENT_WAIT_MS;
    return waitMs > longestMs ? undefined : waitMs;
  }
}
