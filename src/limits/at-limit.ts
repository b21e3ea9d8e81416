import type { Observation } from "../judging/index.ts";
import { isAdmitted, isUnnamedLimit, type LimitName } from "./denials.ts";
import { respondedAtUs, type Stretch } from "./moments.ts";
import { peakOf } from "./overlap.ts";

/** What folds over requests in flight need to know of one. */
type ObservationTimes = Pick<Observation, "outcome" | "sentUs" | "headUs" | "bodyUs" | "endUs">;

/**
 * A request sent this long ago (ms) counts as in flight, even if the model is slow to send the first piece of a reply. Busy
 * gateways take more than half a second to count a request.
 */
export const IN_FLIGHT_MS = 1_500;

/** From the start of the last held request to the end of the first: all of them were in flight. */
function spanAtLimit(held: readonly ObservationTimes[]): Stretch {
  const beganUs = ({ bodyUs = 0, sentUs }: ObservationTimes) => Math.min(bodyUs, sentUs + IN_FLIGHT_MS * 1_000);
  return [Math.max(...held.map(beganUs)), Math.min(...held.map(({ endUs }) => endUs))];
}

/**
 * Whether a response was decided while every held request was in flight: the request was sent after the last of them had begun,
 * and the response arrived before the first of them ended. Otherwise admitting it may have been correct.
 */
export function wasAtLimit(one: ObservationTimes, held: readonly ObservationTimes[]): boolean {
  const [fromUs, toUs] = spanAtLimit(held);
  return one.sentUs >= fromUs && respondedAtUs(one) < toUs;
}

/** The time a gateway may take to deny a request, µs; a request that waits longer was queued. */
const DENIAL_US = 1_000_000;

/**
 * Requests sent at the concurrency limit, long before the first held request ended, and admitted after it ended: a queue. If
 * most of them were decided in time, the others only show that the gateway was briefly stalled.
 */
export function queuedAtLimit<T extends ObservationTimes>(
  observations: readonly T[],
  held: readonly ObservationTimes[],
): readonly T[] {
  const [fromUs, toUs] = spanAtLimit(held);
  const early = observations.filter(({ sentUs }) => sentUs >= fromUs && sentUs < toUs - DENIAL_US);
  const queued = early.filter((one) => isAdmitted(one) && respondedAtUs(one) >= toUs);
  return queued.length * 2 > early.length ? queued : [];
}

/** Maximum number of admitted requests that were running at the same time, from the first byte of the body to the last. */
export function peakInFlight(observations: readonly ObservationTimes[]): number {
  return peakOf(observations.filter(isAdmitted).map(({ bodyUs, endUs }): Stretch => [bodyUs ?? endUs, endUs]));
}

/** What the unnamed 429s of a burst are about: concurrency, if each arrived while the limit was in flight. */
export function limitOfUnnamed(
  observations: readonly (ObservationTimes & Pick<Observation, "what" | "status">)[],
  limit: number,
): LimitName {
  const unnamed = observations.filter(isUnnamedLimit);
  const admitted = observations.filter(isAdmitted);
  const isFull = (one: ObservationTimes) =>
    admitted.filter(({ sentUs, endUs }) => sentUs < respondedAtUs(one) && endUs > respondedAtUs(one)).length >= limit;
  return unnamed.length > 0 && unnamed.every(isFull) ? "concurrency" : "rate";
}
