import type { Observation } from "../judging/index.ts";

/** From one moment to another, µs, in which this process stood still or the machine was busy. */
export type Stretch = readonly [fromUs: number, toUs: number];

/*
 * When a gateway worked on a request is not seen from outside: it was sent at one moment and its answer was read at another.
 * Judges take of that span whatever speaks for the gateway, so that neither its host nor ours can make a sound one look
 * wrong by standing still.
 */

/** Taken off the end of what was measured, µs: the last byte may have left the gateway before we read it. */
const END_MARGIN_US = 100_000;
/** After a standstill of ours what has piled up is read within this, µs. */
const CATCH_UP_US = 125_000;
/** An answer that took so much longer than usual may have been decided upon at any moment in between, µs and in multiples. */
const LATE_US = 150_000;
const LATE_FACTOR = 4;

/** An observation of which the head of the response was seen. */
export type WithHead = Observation & { readonly headUs: number };
export const hasHead = (one: Observation): one is WithHead => one.headUs !== undefined;

/** When the gateway had decided at the latest: the head of its answer, or the end of a request without one, µs. */
export const answeredUs = ({ headUs, endUs }: Observation): number => headUs ?? endUs;

/** Earliest moment at which what was read at `us` may have arrived: our process may have stood still before it read. */
export function arrivedFromUs(us: number, still: readonly Stretch[]): number {
  return still.reduce(
    (earliest, [fromUs, toUs]) => (us >= fromUs && us <= toUs + CATCH_UP_US ? Math.min(earliest, fromUs) : earliest),
    us,
  );
}

/** Until when a request surely ran, µs. */
export function surelyUntilUs({ endUs }: Pick<Observation, "endUs">, still: readonly Stretch[]): number {
  return arrivedFromUs(endUs, still) - END_MARGIN_US;
}

/**
 * Tells for a request the latest moment at which a limiter may have counted it: when it was sent, or when it was answered
 * if that took much longer than others of the run.
 */
export function latestCountUs(all: readonly Observation[]): (one: Observation) => number {
  const latencies = all
    .filter(hasHead)
    .map(({ headUs, sentUs }) => headUs - sentUs)
    .sort((a, b) => a - b);
  const usualUs = latencies[Math.floor(latencies.length / 2)] ?? 0;
  const lateUs = Math.max(LATE_US, usualUs * LATE_FACTOR);
  return (one) => (answeredUs(one) - one.sentUs > lateUs ? answeredUs(one) : one.sentUs);
}
