import { type Fact, isAdmitted, isSlotDenial, LEFT } from "./facts.ts";

/** How soon a gateway notices that a client left is not shown. */
const NOTICE_MS = 10_000;

/** Taken off the end of what was measured, µs: the last byte may have left the gateway before we read it. */
const END_MARGIN_US = 100_000;

/**
 * Most requests that surely ran at one moment: from the head of the answer to a little before its end. Denials do not
 * run; what failed is left out.
 */
export function mostSurely(facts: readonly Fact[]): number {
  const edges = facts
    .filter((one) => isAdmitted(one) && one.headUs > 0 && one.endUs - END_MARGIN_US > one.headUs)
    .flatMap(({ headUs, endUs }) => [
      { atUs: headUs, change: 1 },
      { atUs: endUs - END_MARGIN_US, change: -1 },
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
export function admittedBeside(facts: readonly Fact[], slots: number): Fact[] {
  const long = facts.filter((one) => isAdmitted(one) && one.headUs > 0 && one.endUs - END_MARGIN_US > one.headUs);
  return facts.filter(
    (one) =>
      isAdmitted(one) &&
      one.headUs > 0 &&
      long.filter((other) => other !== one && other.headUs <= one.sentUs && other.endUs - END_MARGIN_US >= one.headUs)
        .length >= slots,
  );
}

/**
 * Most requests that can have held a slot when a denial was decided: everything that was not refused, from its sending to
 * a while after its end. Fewer than the limit: the denial cannot be explained by those that ran.
 */
export function mostPossibly(denial: Fact, facts: readonly Fact[], settleMs: number): number {
  const { sentUs, headUs } = denial;
  return facts.filter(
    (other) =>
      other !== denial &&
      !isSlotDenial(other) &&
      other.outcome !== "denied" &&
      other.sentUs <= headUs &&
      other.endUs + (other.role === LEFT ? NOTICE_MS : settleMs) * 1_000 >= sentUs,
  ).length;
}
