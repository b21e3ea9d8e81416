import type { Observation } from "../../judging/index.ts";
import type { Counted } from "../class-tally.ts";
import { Ledger } from "../phase-record.ts";
import { Tally } from "../tally.ts";
import type { ExternalRequest } from "./external-request.ts";

export interface Filled {
  readonly tally: Tally;
  readonly ledger: Ledger;
  readonly peakInFlight: number;
}

/** Counts the requests of a phase as if they happened now: moment by moment, because the series of a phase is a clock. */
export function fillTally(requests: readonly ExternalRequest[], startUs: number, dropped: number): Filled {
  const tally = new Tally(startUs);
  const ledger = new Ledger();
  let inFlight = 0;
  let peakInFlight = 0;
  const moments = requests.flatMap((sent) => [
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
        tally.ended(countedOf(sent), sent.outcome);
        ledger.add({ shot: sent }, sent, undefined);
      },
    },
  ]);
  for (const { act } of moments.sort((a, b) => a.atUs - b.atUs)) act();
  for (let index = 0; index < dropped; index++) {
    // When a dropped arrival was due is not told: it counts at the beginning of the phase.
    tally.offered(startUs);
    tally.dropped(startUs);
  }
  return { tally, ledger, peakInFlight };
}

/** What no sample tells stays 0, which the tally takes as "did not happen". */
function countedOf(sent: ExternalRequest): Counted {
  return {
    shot: sent,
    dueUs: sent.dueUs,
    sentUs: sent.sentUs,
    connectUs: sent.connectUs,
    headUs: sent.headUs,
    firstByteUs: 0,
    firstEventUs: 0,
    firstTokenUs: 0,
    lastTokenUs: 0,
    endUs: sent.endUs,
    gapsUs: [],
    earlierGaps: undefined,
    longestGapUs: 0,
    outputTokens: sent.tokens,
    reads: 0,
  };
}

/** The end of the last answer, µs; 0 of none. */
export function lastEndUs(facts: readonly Pick<Observation, "endUs">[]): number {
  return facts.reduce((last, { endUs }) => Math.max(last, endUs), 0);
}
