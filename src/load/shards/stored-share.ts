import { type CountedOutcomes, OutcomeCounts } from "../measure/phase-record.ts";
import { RetryTally, type StoredRetries } from "../measure/retry-tally.ts";
import type { InFlightPeaks } from "../measure/second-series.ts";
import { type StoredTally, Tally } from "../measure/tally.ts";
import type { Share } from "../send/send-share.ts";
import type { Workload } from "../workload/workload.ts";

/** The counts of one part of a workload, to be merged with those of all parts. */
export interface StoredShare extends Omit<Share, "tally" | "outcomes" | "retries"> {
  readonly tally: StoredTally;
  readonly outcomes: CountedOutcomes;
  readonly retries: StoredRetries;
}

export function storeShare({ tally, outcomes, retries, ...rest }: Share): StoredShare {
  return { ...rest, tally: tally.store(), outcomes: outcomes.close(), retries: retries.store() };
}

interface MergeOptions {
  readonly workload: Pick<Workload, "retryAfter" | "objectives">;
  readonly seed: number;
  readonly peaks: InFlightPeaks;
}

/**
 * Merges all parts of a workload, including whole histograms.
 *
 * @param shares with times on one clock, µs.
 * @returns everything except the data about the generator.
 */
export function mergeShares(
  shares: readonly StoredShare[],
  { workload, seed, peaks }: MergeOptions,
): Omit<Share, "generator"> {
  const startUs = Math.min(...shares.map((share) => share.startUs));
  const tally = new Tally(startUs, { objectives: workload.objectives });
  const outcomes = new OutcomeCounts();
  const retries = new RetryTally(workload.retryAfter, seed, false);
  for (const share of shares) {
    tally.merge(share.tally, peaks);
    outcomes.merge(share.outcomes);
    retries.merge(share.retries);
  }
  const inFlight = peaks === "shared" ? shares.map(({ peakInFlight }) => peakInFlight) : tally.inFlightPerSecond();
  return {
    tally,
    outcomes,
    retries,
    startUs,
    endUs: Math.max(...shares.map(({ endUs }) => endUs)),
    peakInFlight: Math.max(0, ...inFlight),
    connections: shares.reduce((sum, { connections }) => sum + connections, 0),
    protocol: shares[0]?.protocol,
    sessions: shares[0]?.sessions && {
      started: shares.reduce((sum, { sessions }) => sum + (sessions?.started ?? 0), 0),
      completed: shares.reduce((sum, { sessions }) => sum + (sessions?.completed ?? 0), 0),
    },
    stop: shares.find(({ stop }) => stop !== undefined)?.stop,
    lastFailure: shares.find(({ lastFailure }) => lastFailure !== undefined)?.lastFailure,
  };
}
