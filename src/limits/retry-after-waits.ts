import type { Observation } from "../judging/index.ts";
import { isAdmitted, isRateDenial } from "./denials.ts";

/** A denial with a Retry-After, and what happened to the retry. */
export interface RetryAfterWait {
  readonly denial: Observation;
  readonly outcome: "sufficient" | "insufficient" | "contended" | "untested";
  /** From the denial to the attempt that was admitted, ms. */
  readonly actualMs: number | undefined;
}

/** Fewer tested waits than this are reported as a count, not as a percentage. */
const MIN_TESTED_FOR_SHARE = 30;
/** How many waits were tested, and how many of them were sufficient. */
export function tallyWaits(waits: readonly RetryAfterWait[]): { readonly tested: number; readonly sufficient: number } {
  const sufficient = waits.filter(({ outcome }) => outcome === "sufficient").length;
  return { sufficient, tested: sufficient + waits.filter(({ outcome }) => outcome === "insufficient").length };
}

/** Share of sufficient waits; `null` if too few were tested. */
export function shareOfTested(sufficient: number, tested: number): number | null {
  return tested < MIN_TESTED_FOR_SHARE ? null : sufficient / tested;
}

/** `2 of 2 tested waits`, `99.1 % of 340 tested waits`. */
export function shareText(sufficient: number, tested: number): string {
  return tested < MIN_TESTED_FOR_SHARE
    ? `${sufficient} of ${tested} tested waits`
    : `${((sufficient / tested) * 100).toFixed(1)} % of ${tested} tested waits`;
}

/**
 * Results of the waits of Retry-After compliant clients. If a retry after the wait was denied again, it was contended if another
 * client had been admitted meanwhile and took the free capacity. Otherwise, the wait was not sufficient.
 *
 * @param clients attempts of each client, in order.
 * @param deniedCount denied requests may count toward the rate as well, so any client's attempt is contention.
 */
export function waitsOf(
  clients: readonly (readonly Observation[])[],
  all: readonly Observation[],
  { deniedCount }: { readonly deniedCount: boolean },
): RetryAfterWait[] {
  const others = all.filter((one) => deniedCount || isAdmitted(one)).map(({ sentUs }) => sentUs);
  return clients.flatMap((attempts) =>
    attempts.flatMap((denial, index): RetryAfterWait[] => {
      const next = attempts[index + 1];
      if (!isRateDenial(denial)) return [];
      if (next === undefined || denial.retryAfterWaitMs === undefined)
        return [{ denial, outcome: "untested", actualMs: undefined }];
      if (isAdmitted(next)) return [{ denial, outcome: "sufficient", actualMs: (next.sentUs - denial.endUs) / 1_000 }];
      const contended = others.some((atUs) => atUs > denial.sentUs && atUs < next.endUs && atUs !== next.sentUs);
      return [
        { denial, outcome: contended || !isRateDenial(next) ? "contended" : "insufficient", actualMs: undefined },
      ];
    }),
  );
}

/**
 * How pessimistic a Retry-After is: other clients' requests that were sent during the wait, each counted once, and how many of
 * them were admitted. Each admitted one shows a time that would have worked sooner.
 */
export function earlyRetries(
  denied: readonly Pick<Observation, "endUs" | "retryAfterWaitMs">[],
  observations: readonly Pick<Observation, "sentUs" | "outcome">[],
): { earlyProbes: number; earlyAdmitted: number } {
  const waits = denied
    .filter(({ retryAfterWaitMs }) => retryAfterWaitMs !== undefined)
    .sort((a, b) => a.endUs - b.endUs);
  let next = 0;
  let untilUs = 0;
  let earlyProbes = 0;
  let earlyAdmitted = 0;
  for (const one of [...observations].sort((a, b) => a.sentUs - b.sentUs)) {
    for (; next < waits.length && (waits[next]?.endUs ?? 0) < one.sentUs; next++) {
      const { endUs, retryAfterWaitMs = 0 } = waits[next] as (typeof waits)[number];
      untilUs = Math.max(untilUs, endUs + retryAfterWaitMs * 1_000);
    }
    if (one.sentUs >= untilUs) continue;
    earlyProbes++;
    if (isAdmitted(one)) earlyAdmitted++;
  }
  return { earlyProbes, earlyAdmitted };
}
