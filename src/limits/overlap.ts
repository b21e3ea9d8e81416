import type { Observation } from "../judging/index.ts";
import { isAdmitted, isConcurrencyDenial, LEFT } from "./denials.ts";
import { hasHead, respondedAtUs, type Stretch, surelyUntilUs } from "./moments.ts";

/** Maximum time for a gateway to notice that a client disconnected; it cannot be observed. */
const NOTICE_MS = 10_000;

/**
 * Maximum number of requests that certainly ran at the same time: from the head of the response to shortly before its end. Denied
 * and failed requests do not count.
 *
 * @param still ranges in which this process was stalled.
 */
export function minPeakInFlight(observations: readonly Observation[], stalledSpans: readonly Stretch[]): number {
  const spans = observations
    .filter(isAdmitted)
    .filter(hasHead)
    .map((one): Stretch => [one.headUs, surelyUntilUs(one, stalledSpans)]);
  return peakOf(spans.filter(([fromUs, toUs]) => toUs > fromUs));
}

/** Maximum number of ranges that overlap. If one ends at the moment another begins, the end counts first. */
export function peakOf(spans: readonly Stretch[]): number {
  const edges = spans
    .flatMap(([fromUs, toUs]) => [
      { atUs: fromUs, change: 1 },
      { atUs: toUs, change: -1 },
    ])
    .sort((a, b) => a.atUs - b.atUs || a.change - b.change);
  let now = 0;
  let max = 0;
  for (const { change } of edges) {
    now += change;
    max = Math.max(max, now);
  }
  return max;
}

/**
 * Requests that were admitted although the limit was certainly reached from before they were sent until after their response
 * started: however short they are, each was one too many.
 */
export function admittedBeyond(
  observations: readonly Observation[],
  limit: number,
  stalledSpans: readonly Stretch[],
): Observation[] {
  const long = observations
    .filter(isAdmitted)
    .filter(hasHead)
    .map((one) => ({ one, headUs: one.headUs, untilUs: surelyUntilUs(one, stalledSpans) }))
    .filter(({ headUs, untilUs }) => untilUs > headUs);
  return observations.filter(
    (one) =>
      isAdmitted(one) &&
      hasHead(one) &&
      long.filter((other) => other.one !== one && other.headUs <= one.sentUs && other.untilUs >= one.headUs).length >=
        limit,
  );
}

/**
 * Maximum number of requests that can have been in flight when a denial was decided: everything not denied, from its sending to
 * some time after its end. If below the limit, the running requests cannot explain the denial.
 */
export function maxInFlightAtDenial(
  denial: Observation,
  observations: readonly Observation[],
  settleMs: number,
): number {
  const { sentUs } = denial;
  const decidedUs = respondedAtUs(denial);
  return observations.filter(
    (other) =>
      other !== denial &&
      !isConcurrencyDenial(other) &&
      other.outcome !== "denied" &&
      other.sentUs <= decidedUs &&
      other.endUs + (other.role === LEFT ? NOTICE_MS : settleMs) * 1_000 >= sentUs,
  ).length;
}
