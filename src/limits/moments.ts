import type { Observation } from "../judging/index.ts";

/** A time range, µs, in which this process was stalled or the machine was busy. */
export type Stretch = readonly [fromUs: number, toUs: number];

/*
 * When a gateway worked on a request cannot be seen from outside: we only know when the request was sent and when its response
 * was read. Judges assume whatever within that span favours the gateway, so that a stall of its host or ours cannot make a
 * conformant gateway look wrong.
 */

/** Subtracted from the end of what was measured, µs: the last byte may have left the gateway before we read it. */
const END_MARGIN_US = 100_000;
/** After a stall of ours, queued data is read within this time, µs. */
const CATCH_UP_US = 125_000;
/** A response that took this much longer than usual may have been decided at any time in between, µs and as a multiple. */
const LATE_US = 150_000;
const LATE_FACTOR = 4;

/** An observation that includes the head of the response. */
export type WithHead = Observation & { readonly headUs: number };
export const hasHead = (one: Observation): one is WithHead => one.headUs !== undefined;

/** The latest time at which the gateway had decided: the head of its response, or the end of a request without one, µs. */
export const respondedAtUs = ({ headUs, endUs }: Pick<Observation, "headUs" | "endUs">): number => headUs ?? endUs;

/** Earliest time at which data read at `us` may have arrived: our process may have been stalled before it read. */
export function arrivedFromUs(us: number, stalledSpans: readonly Stretch[]): number {
  return stalledSpans.reduce(
    (earliest, [fromUs, toUs]) => (us >= fromUs && us <= toUs + CATCH_UP_US ? Math.min(earliest, fromUs) : earliest),
    us,
  );
}

/** Until when a request certainly ran, µs. */
export function surelyUntilUs({ endUs }: Pick<Observation, "endUs">, stalledSpans: readonly Stretch[]): number {
  return arrivedFromUs(endUs, stalledSpans) - END_MARGIN_US;
}

/**
 * Returns a function for the latest time at which a limiter may have counted a request: when it was sent, or when the response
 * arrived if that took much longer than for others in the run.
 */
export function latestCountUs(all: readonly Observation[]): (one: Observation) => number {
  const latencies = all
    .filter(hasHead)
    .map(({ headUs, sentUs }) => headUs - sentUs)
    .sort((a, b) => a - b);
  const usualUs = latencies[Math.floor(latencies.length / 2)] ?? 0;
  const lateUs = Math.max(LATE_US, usualUs * LATE_FACTOR);
  return (one) => (respondedAtUs(one) - one.sentUs > lateUs ? respondedAtUs(one) : one.sentUs);
}
