import type { Observation } from "../../judging/index.ts";
import { OutcomeCounts } from "../measure/phase-record.ts";
import { Tally } from "../measure/tally.ts";

export interface Filled {
  readonly tally: Tally;
  readonly outcomes: OutcomeCounts;
  readonly peakInFlight: number;
}

/**
 * Counts the requests of a phase as if they were happening now: in chronological order, because a time series can only move
 * forward.
 */
export function fillTally(observations: readonly Observation[], startUs: number, dropped: number): Filled {
  const tally = new Tally(startUs);
  const outcomes = new OutcomeCounts();
  let inFlight = 0;
  let peakInFlight = 0;
  const moments = observations.flatMap((sent) => [
    { atUs: sent.dueUs, act: () => tally.offered(sent.dueUs) },
    {
      atUs: sent.sentUs,
      act: () => {
        peakInFlight = Math.max(peakInFlight, ++inFlight);
        tally.sent(sent.dueUs, sent.sentUs, inFlight);
      },
    },
    {
      atUs: sent.endUs,
      act: () => {
        inFlight--;
        tally.observed(sent);
        outcomes.add({ prepared: sent }, sent, sent.exchange);
      },
    },
  ]);
  for (const { act } of moments.sort((a, b) => a.atUs - b.atUs)) act();
  for (let index = 0; index < dropped; index++) {
    // The due time of a dropped arrival is unknown: it counts at the start of the phase.
    tally.offered(startUs);
    tally.dropped(startUs);
  }
  return { tally, outcomes, peakInFlight };
}

/** The end of the last response, µs; 0 if there is none. */
export function lastEndUs(observations: readonly Pick<Observation, "endUs">[]): number {
  return observations.reduce((last, { endUs }) => Math.max(last, endUs), 0);
}
