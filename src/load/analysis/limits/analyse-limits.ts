import type { RequestBudget } from "../../../budget/index.ts";
import { unreachableError } from "../../../core/index.ts";
import type { ConcurrencyInference, RateInference } from "../../../limits/index.ts";
import type { Limits } from "../../../target/index.ts";
import { concurrencyExperiment } from "./concurrency-experiment.ts";
import { LiveGateway } from "./live-gateway.ts";
import { rateExperiment } from "./rate-experiment.ts";
import { type AnalysisAccount, longRequests } from "./request-kinds.ts";

export interface LimitsAnalysisOptions extends AnalysisAccount {
  /** What the operator declares about the account; used to plan the experiments, never to decide. */
  readonly declared: Limits | undefined;
  /** The budget from the permit of the command. */
  readonly budget: RequestBudget;
  /** How much of the budget the analysis may use, and its time limit. */
  readonly bounds: { readonly requests: number; readonly minutes: number };
  readonly stop: AbortSignal;
  /** Called if the first requests were all rejected with 401 or 403. */
  readonly onRejected?: (() => void) | undefined;
  /** Called with a short description of the current step. */
  readonly onStep?: (what: string) => void;
  /** Length of the minute in "requests per minute", ms; 60,000 outside tests. */
  readonly minuteMs?: number;
}

export interface LimitsAnalysis {
  readonly rate: RateInference;
  readonly concurrency: ConcurrencyInference;
  readonly spent: { readonly requests: number; readonly minutes: number };
  /** Why it ended before it was complete. */
  readonly cut: "requests" | "minutes" | "interrupted" | null;
}

/** Requests in flight during a burst if the account's concurrency limit is unknown. */
const PARALLEL = 3;
const MAX_PARALLEL = 16;
/** Maximum number of streams held if no concurrency limit is declared. */
const MAX_HELD = 1_024;

/** Default number of requests and time limit of the analysis, from the declared limits of the account. */
export function defaultLimitsPlan(declared: Limits | undefined): {
  readonly requests: number;
  readonly minutes: number;
} {
  if (declared === undefined) return { requests: 10_000, minutes: 6 };
  const requests = Math.ceil(4 * declared.rpm + 4 * declared.inFlight + 2_500);
  return { requests: Number.isFinite(requests) ? requests : 10_000, minutes: 6 };
}

/**
 * Finds the limits of an account by using them up within a budget. Nobody else may use the account during the analysis or in the
 * minute before.
 *
 * @throws UnreachableError if the gateway does not respond.
 */
export async function analyseLimits(options: LimitsAnalysisOptions): Promise<LimitsAnalysis> {
  const { declared, budget, bounds, stop, onStep, minuteMs = 60_000, target } = options;
  const held = declared === undefined ? MAX_HELD : declared.inFlight * 2 + 32;
  const parallel =
    declared === undefined ? PARALLEL : Math.min(MAX_PARALLEL, Math.max(1, Math.floor(declared.inFlight / 4)));
  const share = budget.reserve(Math.min(bounds.requests, budget.left().requests));
  await using gateway = new LiveGateway({
    ...options,
    maxConnections: held + MAX_PARALLEL,
    share,
    durationMs: bounds.minutes * 60_000,
  });
  const failure = await gateway.open(parallel + 1);
  if (failure !== undefined) throw unreachableError(target.baseUrl, failure);
  onStep?.("rate: measuring bursts and refill");
  const rate = await rateExperiment(gateway, { declaredPerMinute: declared?.rpm, parallel, minuteMs });
  onStep?.("concurrency: waiting for the rate window");
  const concurrency = await concurrencyExperiment(gateway, {
    rate,
    prepared: longRequests(options),
    declared: declared?.inFlight,
    minuteMs,
    maxStreams: held,
  });
  const { left } = gateway;
  budget.spend(share, { requests: gateway.sent, outputTokens: 0 });
  const cut = stop.aborted ? "interrupted" : left.requests <= 0 ? "requests" : left.ms <= 0 ? "minutes" : null;
  return { rate, concurrency, spent: { requests: gateway.sent, minutes: gateway.elapsedMs / 60_000 }, cut };
}
