import { atConcurrencyLimit } from "./phases/at-concurrency-limit.ts";
import { atRateLimit } from "./phases/at-rate-limit.ts";
import { concurrencyRelease } from "./phases/concurrency-release.ts";
import { overRateLimit } from "./phases/over-rate-limit.ts";
import { recovery } from "./phases/recovery.ts";
import { warmUp } from "./phases/warm-up.ts";
import type { TierLength, TierPhase } from "./tier-phase.ts";

/** The phases of a tier run, in order. */
export const TIER_PHASES: readonly TierPhase[] = [
  warmUp,
  atConcurrencyLimit,
  concurrencyRelease,
  atRateLimit,
  overRateLimit,
  recovery,
];

/** The phases of a run of this length, in order. */
export function phasesOf(length: TierLength): readonly TierPhase[] {
  return TIER_PHASES.filter(({ omittedByQuick }) => length !== "quick" || !omittedByQuick);
}
