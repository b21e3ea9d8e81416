import type { Observation } from "../judging/index.ts";
import { isAdmitted, isConcurrencyDenial, LEFT } from "./denials.ts";
import { answeredUs, hasHead, type Stretch, surelyUntilUs } from "./moments.ts";

/** How soon a gateway notices that a client left is not shown. */
const NOTICE_MS = 10_000;

/**
 * Most requests that surely ran at one moment: from the head of the answer to a little before its end. Denials do not
 * run; what failed is left out.
 *
 * @param still stretches in which this process stood still.
 */
export function mostSurely(observations: readonly Observation[], still: readonly Stretch[]): number {
  const edges = observations
    .filter(isAdmitted)
    .filter(hasHead)
    .filter((one) => surelyUntilUs(one, still) > one.headUs)
    .flatMap((one) => [
      { atUs: one.headUs, change: 1 },
      { atUs: surelyUntilUs(one, still), change: -1 },
    ])
    .sort((a, b) => a.atUs - b.atUs || a.change - b.change);
  let now = 0;
  let most = 0;
  for (const { change } of edges) {
    now += change;
    most = Math.max(most, now);
  }
  return most;
}

/**
 * Requests that were admitted although so many others surely ran from before their sending until after their answer
 * began: however short they are, each was one too many.
 */
export function admittedBeyond(
  observations: readonly Observation[],
  limit: number,
  still: readonly Stretch[],
): Observation[] {
  const long = observations
    .filter(isAdmitted)
    .filter(hasHead)
    .map((one) => ({ one, headUs: one.headUs, untilUs: surelyUntilUs(one, still) }))
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
 * Most requests that can have been in flight when a denial was decided: everything that was not denied, from its sending to
 * a while after its end. Fewer than the limit: the denial cannot be explained by those that ran.
 */
export function mostPossibly(denial: Observation, observations: readonly Observation[], settleMs: number): number {
  const { sentUs } = denial;
  const decidedUs = answeredUs(denial);
  return observations.filter(
    (other) =>
      other !== denial &&
      !isConcurrencyDenial(other) &&
      other.outcome !== "denied" &&
      other.sentUs <= decidedUs &&
      other.endUs + (other.role === LEFT ? NOTICE_MS : settleMs) * 1_000 >= sentUs,
  ).length;
}
