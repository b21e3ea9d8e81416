import type { RequestBudget } from "../../../budget/index.ts";
import { noAnswer } from "../../../core/index.ts";
import type { ConcurrencyInference, RateInference } from "../../../limits/index.ts";
import type { Limits } from "../../../target/index.ts";
import { concurrencyExperiment } from "./concurrency-experiment.ts";
import { LiveGateway } from "./live-gateway.ts";
import { rateExperiment } from "./rate-experiment.ts";
import { type AnalysisAccount, longRequests } from "./request-kinds.ts";

export interface LimitsAnalysisOptions extends AnalysisAccount {
  /** What the operator says of the account; plans the experiments and decides nothing. */
  readonly declared: Limits | undefined;
  /** The budget from the permit of the command. */
  readonly budget: RequestBudget;
  /** How much of the budget the analysis may use, and its time limit. */
  readonly most: { readonly requests: number; readonly minutes: number };
  readonly stop: AbortSignal;
  /** Called if the first requests were all rejected with 401 or 403. */
  readonly onRejected?: (() => void) | undefined;
  /** Called with what is being done, in a few words. */
  readonly onStep?: (what: string) => void;
  /** The minute of "requests per minute", ms; 60,000 outside tests. */
  readonly minuteMs?: number;
}

export interface LimitsAnalysis {
  readonly rate: RateInference;
  readonly concurrency: ConcurrencyInference;
  readonly spent: { readonly requests: number; readonly minutes: number };
  /** Why it ended before it was through. */
  readonly cut: "requests" | "minutes" | "interrupted" | null;
}

/** Requests under way at once in a burst, for an account whose concurrency limit is not known. */
const PARALLEL = 3;
const MAX_PARALLEL = 16;
/** Streams that are held at most when nobody says what the concurrency limit is. */
const MAX_HELD = 1_024;

/** Default requests and time of the analysis, from the declared limits of the account. */
export function defaultLimitsPlan(declared: Limits | undefined): {
  readonly requests: number;
  readonly minutes: number;
} {
  if (declared === undefined) return { requests: 10_000, minutes: 6 };
  const requests = Math.ceil(4 * declared.rpm + 4 * declared.inFlight + 2_500);
  return { requests: Number.isFinite(requests) ? requests : 10_000, minutes: 6 };
}

/**
 * Finds out what the limits of an account are, by using it up within a budget. Nobody else may use the account meanwhile,
 * nor in the minute before.
 *
 * @throws UnreachableError when nothing answers.
 */
export async function analyseLimits(options: LimitsAnalysisOptions): Promise<LimitsAnalysis> {
  const { declared, budget, most, stop, onStep, minuteMs = 60_000, target } = options;
  const held = declared === undefined ? MAX_HELD : declared.inFlight * 2 + 32;
  const parallel =
    declared === undefined ? PARALLEL : Math.min(MAX_PARALLEL, Math.max(1, Math.floor(declared.inFlight / 4)));
  const share = budget.reserve(Math.min(most.requests, budget.left().requests));
  await using gateway = new LiveGateway({
    ...options,
    maxConnections: held + MAX_PARALLEL,
    share,
    durationMs: most.minutes * 60_000,
  });
  const failure = await gateway.open(parallel + 1);
  if (failure !== undefined) throw noAnswer(target.baseUrl, failure);
  onStep?.("rate: bursts and what comes back after them");
  const rate = await rateExperiment(gateway, { declaredPerMinute: declared?.rpm, parallel, minuteMs });
  onStep?.("concurrency: waiting until the rate leaves room for streams");
  const concurrency = await concurrencyExperiment(gateway, {
    rate,
    prepared: longRequests(options),
    declared: declared?.inFlight,
    minuteMs,
    most: held,
  });
  const { left } = gateway;
  budget.spend(share, { requests: gateway.sent, outputTokens: 0 });
  const cut = stop.aborted ? "interrupted" : left.requests <= 0 ? "requests" : left.ms <= 0 ? "minutes" : null;
  return { rate, concurrency, spent: { requests: gateway.sent, minutes: gateway.elapsedMs / 60_000 }, cut };
}
