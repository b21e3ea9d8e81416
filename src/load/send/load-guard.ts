import type { Share } from "../../budget/index.ts";
import { formatCount, formatNumber } from "../../core/index.ts";
import { isLimitReason } from "../../dialects/index.ts";
import type { LoadExchange } from "../../http/load-client/index.ts";
import type { Redactor } from "../../http/recorder/index.ts";
import type { EndingThreshold } from "../../record/index.ts";
import type { Target } from "../../target/index.ts";
import type { RequestOutcome } from "./outcome.ts";

/** Rejections from the start without a single admission after which the key, model or account counts as unusable. */
const REFUSALS = 20;
/** The same for denials by a limit: others may use the account, so more are needed before continuing is pointless. */
const LIMIT_DENIALS = 500;

interface LoadBudget {
  /** Maximum number of requests, including retries and warm-up. */
  readonly requests: number;
  /** Maximum number of billed output tokens, if the target sets a budget. */
  readonly outputTokens?: number | undefined;
}

interface GuardOptions {
  readonly budget: LoadBudget;
  /**
   * Share of failed requests that opens the circuit breaker, and the number of requests it is taken over; `undefined`: failures
   * never open it.
   */
  readonly circuit: Target["circuit"];
}

/** Why a load run stopped sending. `requests`: all planned requests were sent, which ends a closed loop. */
export type LoadStop =
  | { readonly kind: "circuit" | "outputTokens" | "requests"; readonly why: string }
  | { readonly kind: "threshold"; readonly why: string; readonly endedBy: EndingThreshold };

/** What an engine has counted so far; `refused`: denied for a reason other than a limit. */
export type LoadTotalsSoFar = Readonly<Record<"sent" | "admitted" | "refused" | "failed", number>>;

/** The guard for load with a share of the command's budget. */
export function guardOver(
  share: Share,
  { outputTokens, circuit }: { readonly outputTokens: number | undefined; readonly circuit: Target["circuit"] },
): LoadGuard {
  return new LoadGuard({ budget: { requests: share.planned, outputTokens }, circuit });
}

/**
 * Stops a load run that has used up its budget, or for which continuing is pointless or harmful: nothing is admitted, or nearly
 * everything fails. All engines consult the same guard; denials by a limit are the purpose of load and do not stop it once
 * anything was admitted.
 */
export class LoadGuard {
  readonly #budget: LoadBudget;
  readonly #circuit: Target["circuit"];
  /** For each of the last requests, whether it failed. */
  readonly #last: boolean[] = [];
  readonly #stopped = new AbortController();
  #failed = 0;
  #refused = 0;
  #limitDenials = 0;
  #admitted = false;
  #sent = 0;
  #outputTokens = 0;
  #stop: LoadStop | undefined;
  #before: LoadTotalsSoFar = { sent: 0, admitted: 0, refused: 0, failed: 0 };

  constructor({ budget, circuit }: GuardOptions) {
    this.#budget = budget;
    this.#circuit = circuit;
  }

  /** Fires when sending must stop. */
  get signal(): AbortSignal {
    return this.#stopped.signal;
  }

  /** `undefined` while requests may be sent. */
  get stop(): LoadStop | undefined {
    return this.#stop;
  }

  /** Why the run stopped early; `undefined` if it did not, or if it sent all planned requests. */
  get stoppedEarly(): LoadStop | undefined {
    return this.#stop?.kind === "requests" ? undefined : this.#stop;
  }

  /** Requests that the guard has allowed. */
  get sent(): number {
    return this.#sent;
  }

  /** Output tokens of the responses so far. */
  get outputTokens(): number {
    return this.#outputTokens;
  }

  /** Counts a request that is about to be sent. @returns false if it must not be sent. */
  take(): boolean {
    if (this.#stop !== undefined) return false;
    const { requests } = this.#budget;
    if (this.#sent >= requests) {
      this.#end("requests", `all ${formatCount(requests, "planned request was", "planned requests were")} sent`);
      return false;
    }
    this.#sent++;
    return true;
  }

  note({ status, outputTokens }: Pick<LoadExchange, "status" | "outputTokens">, result: RequestOutcome): void {
    if (this.#stop !== undefined || result.what === "aborted") return;
    this.#count(outputTokens);
    if (result.outcome === "admitted" || result.outcome === "unfinished") this.#admitted = true;
    if (!this.#admitted && result.outcome === "denied") this.#noteDenial(status, result.what);
    else this.#noteFailure(result);
  }

  /** For an engine that only reports running totals. */
  noteTotals(totals: LoadTotalsSoFar): void {
    if (this.#stop !== undefined) return;
    const { sent, admitted, refused, failed } = totals;
    this.#sent = sent;
    const { requests } = this.#budget;
    if (sent > requests)
      this.#end(
        "requests",
        `${formatCount(sent, "request was", "requests were")} sent, ${formatNumber(requests)} planned`,
      );
    if (admitted === 0 && refused >= REFUSALS)
      this.#end(
        "circuit",
        `the gateway rejected ${formatCount(refused, "request")} and admitted none, for reasons other than a limit`,
      );
    const spanSent = sent - this.#before.sent;
    if (this.#circuit === undefined || spanSent < this.#circuit.requests) return;
    const spanFailed = failed - this.#before.failed;
    if (spanFailed >= this.#circuit.failedShare * spanSent)
      this.#end("circuit", `${spanFailed} of the last ${spanSent} requests failed`);
    this.#before = totals;
  }

  /** Ends the load because of a crossed threshold. */
  endByThreshold(endedBy: EndingThreshold): void {
    const { threshold, figure, afterS } = endedBy;
    this.#stopBy({ kind: "threshold", why: `crossed ${threshold}: ${figure}, after ${afterS.toFixed(0)} s`, endedBy });
  }

  #count(outputTokens: number): void {
    const { outputTokens: most } = this.#budget;
    this.#outputTokens += outputTokens;
    if (most !== undefined && this.#outputTokens > most)
      this.#end("outputTokens", `the budget of ${formatCount(most, "output token")} is used up`);
  }

  #noteDenial(status: number, reason: string): void {
    const name = reason === `${status}` ? reason : `${status} ${reason}`;
    if (isLimitReason(reason)) {
      if (++this.#limitDenials >= LIMIT_DENIALS)
        this.#end("circuit", `the gateway denied ${LIMIT_DENIALS} requests and admitted none (last: ${name})`);
    } else if (++this.#refused >= REFUSALS) {
      this.#end("circuit", `the gateway rejected ${REFUSALS} requests and admitted none (last: ${name})`);
    }
  }

  #noteFailure({ outcome, what }: RequestOutcome): void {
    if (this.#circuit === undefined) return;
    const { failedShare, requests } = this.#circuit;
    const failed = outcome === "failed";
    this.#last.push(failed);
    if (failed) this.#failed++;
    if (this.#last.length > requests && this.#last.shift() === true) this.#failed--;
    if (this.#last.length >= requests && this.#failed >= failedShare * requests)
      this.#end("circuit", `${this.#failed} of the last ${requests} requests failed, last with ${what}`);
  }

  #end(kind: "circuit" | "outputTokens" | "requests", why: string): void {
    this.#stopBy({ kind, why });
  }

  #stopBy(stop: LoadStop): void {
    if (this.#stop !== undefined) return;
    this.#stop = stop;
    this.#stopped.abort();
  }
}

interface AnnounceContext {
  readonly guard: LoadGuard;
  readonly redactor: Redactor;
  readonly onNotice?: ((text: string) => void) | undefined;
}

/** Reports that a load is ending early, and why, as soon as it is stopped. */
export function announceStop(load: string, { guard, redactor, onNotice }: AnnounceContext): void {
  guard.signal.addEventListener("abort", () => {
    // The reason may quote the gateway.
    if (guard.stoppedEarly !== undefined) onNotice?.(redactor.redactValue(`ending ${load}: ${guard.stoppedEarly.why}`));
  });
}
