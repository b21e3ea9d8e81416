import { UnreachableError } from "../../../core/index.ts";
import type { Limits } from "../../../target/index.ts";
import type { RateFindings } from "./infer-rate.ts";
import type { SlotFindings } from "./infer-slots.ts";
import { type AnalysisAccount, longShots } from "./limit-shots.ts";
import { LiveInstrument } from "./live-instrument.ts";
import { rateExperiment } from "./rate-experiment.ts";
import { slotsExperiment } from "./slots-experiment.ts";

export interface LimitsAnalysisOptions extends AnalysisAccount {
  /** What the operator says of the account; plans the experiments and decides nothing. */
  readonly hint: Limits | undefined;
  readonly budget: { readonly requests: number; readonly minutes: number };
  readonly stop: AbortSignal;
  /** Told what is being done, in a few words. */
  readonly onStep?: (what: string) => void;
  /** The minute of "requests per minute", ms; 60,000 outside tests. */
  readonly minuteMs?: number;
}

export interface LimitsAnalysis {
  readonly rate: RateFindings;
  readonly slots: SlotFindings;
  readonly spent: { readonly requests: number; readonly minutes: number };
  /** Why it ended before it was through. */
  readonly cut: "requests" | "minutes" | "interrupted" | null;
}

/** Requests under way at once in a burst, for an account whose slots are not known. */
const PARALLEL = 3;
const MOST_PARALLEL = 16;
/** Streams that are held at most when nobody says how many slots there are. */
const MOST_HELD = 1_024;

/** What the analysis may cost when nothing is said, from what the account is said to allow. */
export function defaultLimitsBudget(hint: Limits | undefined): { readonly requests: number; readonly minutes: number } {
  if (hint === undefined) return { requests: 10_000, minutes: 6 };
  return { requests: Math.ceil(4 * hint.rpm + 4 * hint.inFlight + 2_500), minutes: 6 };
}

/**
 * Finds out what the limits of an account are, by using it up within a budget. Nobody else may use the account meanwhile,
 * nor in the minute before.
 *
 * @throws UnreachableError when nothing answers.
 */
export async function analyseLimits(options: LimitsAnalysisOptions): Promise<LimitsAnalysis> {
  const { hint, budget, stop, onStep, minuteMs = 60_000, target } = options;
  const most = hint === undefined ? MOST_HELD : hint.inFlight * 2 + 32;
  const parallel = hint === undefined ? PARALLEL : Math.min(MOST_PARALLEL, Math.max(1, Math.floor(hint.inFlight / 4)));
  await using instrument = new LiveInstrument({
    ...options,
    maxConnections: most + MOST_PARALLEL,
    budget: { requests: budget.requests, ms: budget.minutes * 60_000 },
  });
  const failure = await instrument.open(parallel + 1);
  if (failure !== undefined) {
    throw new UnreachableError(`no answer from ${target.baseUrl}: ${failure}`, {
      hint: "Check baseUrl in the target file, and that the gateway is running.",
    });
  }
  onStep?.("rate: bursts and what comes back after them");
  const rate = await rateExperiment(instrument, { hintPerMinute: hint?.rpm, parallel, minuteMs });
  onStep?.("slots: waiting until the rate leaves room for streams");
  const slots = await slotsExperiment(instrument, {
    rate,
    shots: longShots(options),
    hint: hint?.inFlight,
    minuteMs,
    most,
  });
  const { left } = instrument;
  const cut = stop.aborted ? "interrupted" : left.requests <= 0 ? "requests" : left.ms <= 0 ? "minutes" : null;
  return { rate, slots, spent: { requests: instrument.sent, minutes: instrument.elapsedMs / 60_000 }, cut };
}
