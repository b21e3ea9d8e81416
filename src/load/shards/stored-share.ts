import { type EventCounts, EventTally } from "../events/event-tally.ts";
import { type CountedOutcomes, OutcomeCounts } from "../measure/phase-record.ts";
import { RetryTally, type StoredRetries } from "../measure/retry-tally.ts";
import type { InFlightPeaks } from "../measure/second-series.ts";
import { type StoredTally, Tally } from "../measure/tally.ts";
import type { Share } from "../send/send-share.ts";
import type { Workload } from "../workload/workload.ts";

/** The counts of one part of a workload, to be merged with those of all parts. */
export interface StoredShare extends Omit<Share, "tally" | "outcomes" | "retries" | "events"> {
  readonly tally: StoredTally;
  readonly outcomes: CountedOutcomes;
  readonly retries: StoredRetries;
  /** Absent in the file of a shard: a workload with events is sent by one process. */
  readonly events?: readonly EventCounts[] | undefined;
}

export function storeShare({ tally, outcomes, retries, events, ...rest }: Share): StoredShare {
  return {
    ...rest,
    tally: tally.store(),
    outcomes: outcomes.close(),
    retries: retries.store(),
    events: events?.store(),
  };
}

interface MergeOptions {
  readonly workload: Pick<Workload, "retryAfter" | "objectives" | "events">;
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
  const events = workload.events && new EventTally(workload.events.map(({ atS }) => atS));
  for (const share of shares) {
    events?.merge(share.events ?? []);
    tally.merge(share.tally, peaks);
    outcomes.merge(share.outcomes);
    retries.merge(share.retries);
  }
  const inFlight = peaks === "shared" ? shares.map(({ peakInFlight }) => peakInFlight) : tally.inFlightPerSecond();
  return {
    tally,
    outcomes,
    retries,
    events,
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
