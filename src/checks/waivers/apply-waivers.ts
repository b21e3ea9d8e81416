import { closest } from "fastest-levenshtein";
import { type CheckResult, type Status, UNDECIDED, type Waiver } from "../../record/index.ts";
import { fingerprintOf } from "./fingerprint.ts";
import { growthOf, magnitudesOf } from "./magnitude.ts";

/** Why a waiver itself fails the run. */
export interface WaiverBreach {
  readonly kind: "expired" | "stale" | "unmatched" | "differently-failing" | "grown";
  readonly check: string;
  readonly text: string;
}

export interface Waived {
  /** All results; those with a waiver keep their status. */
  readonly results: CheckResult[];
  readonly breaches: WaiverBreach[];
}

export interface WaiverContext {
  /** Day of the run, YYYY-MM-DD, UTC. */
  readonly today: string;
  /** Ids of all existing instances, whether they were run or not. */
  readonly known: readonly string[];
}

const WAIVABLE: readonly Status[] = ["fail", "flaky"];

/**
 * Applies waivers to results. Until it expires, a waiver covers a failure of exactly the kind, and about the size, that it was
 * written for. A waiver that no longer covers anything fails the run as well, so that stale waivers are noticed.
 */
export function applyWaivers(
  results: readonly CheckResult[],
  waivers: readonly Waiver[],
  context: WaiverContext,
): Waived {
  const byCheck = new Map(waivers.map((waiver) => [waiver.check, waiver]));
  const judged = new Map(results.map((result) => [result.id, result]));
  const breaches = waivers.flatMap((waiver) => breachOf(waiver, judged.get(waiver.check), context) ?? []);
  const broken = new Set(breaches.map(({ check }) => check));
  return {
    results: results.map((result) => {
      const waiver = byCheck.get(result.id);
      if (waiver === undefined || broken.has(result.id) || !WAIVABLE.includes(result.status)) return result;
      const { reason, owner, expires } = waiver;
      return { ...result, waived: { reason, owner, expires } };
    }),
    breaches,
  };
}

function breachOf(
  { check, expires, fingerprint, magnitudes, place }: Waiver,
  result: CheckResult | undefined,
  { today, known }: WaiverContext,
): WaiverBreach | undefined {
  const breach = (kind: WaiverBreach["kind"], text: string) => ({ kind, check, text: `${place}: ${text}` });
  if (!known.includes(check)) {
    return breach("unmatched", `there is no check "${check}"; did you mean "${closest(check, [...known])}"?`);
  }
  if (expires < today) return breach("expired", `the waiver of ${check} expired on ${expires}`);
  // Not selected in this run, or undecided: the waiver can be neither used nor stale.
  if (result === undefined || UNDECIDED.includes(result.status)) return undefined;
  if (!WAIVABLE.includes(result.status)) {
    return breach("stale", `${check} no longer fails (${result.status}); remove its waiver`);
  }
  const now = fingerprintOf(result);
  if (now !== fingerprint) {
    return breach(
      "differently-failing",
      `${check} fails differently than was waived (${now}, not ${fingerprint}): ${result.message}`,
    );
  }
  const growth = growthOf(magnitudesOf(result), magnitudes);
  return growth === undefined
    ? undefined
    : breach("grown", `${check} fails more than was waived (${growth}): ${result.message}`);
}
