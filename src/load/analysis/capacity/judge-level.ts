import { formatNumber, wilson } from "../../../core/index.ts";
import type { Histogram, TaggedHistogram } from "../../../metrics/index.ts";
import type { JudgedPhase } from "../../../record/index.ts";
import type { Clause } from "./objective.ts";

/** The result of one clause at one level of load. */
export interface ClauseOutcome {
  readonly clause: string;
  readonly met: boolean;
  /** Whether the number of samples decides it with 95 % confidence. */
  readonly sure: boolean;
  readonly observed: string;
  /** Requests that would decide it if the share stayed the same; `undefined` if it is decided, or no number would do. */
  readonly needed?: number | undefined;
}

/** Judges a phase by an objective. A quantile is met if every class of admitted requests meets it. */
export function judgeLevel(
  clauses: readonly Clause[],
  phase: Pick<JudgedPhase, "offered" | "failed" | "denied" | "dropped">,
  histograms: readonly TaggedHistogram[],
): ClauseOutcome[] {
  return clauses.map((clause) => {
    if (clause.kind === "share") return shareOutcome(clause.text, phase[clause.of], phase.offered, clause.below);
    const found = histograms.filter(({ tag }) => tag.endsWith(`.admitted.${clause.figure}`));
    if (found.length === 0) return { clause: clause.text, met: false, sure: false, observed: "nothing was measured" };
    const outcomes = found.map(({ tag, histogram }) => {
      const beyond = countBeyond(histogram, clause.belowMs * 1_000);
      const { met, sure, needed } = shareOutcome(clause.text, beyond, histogram.count, 1 - clause.quantile);
      const ms = histogram.quantileUs(clause.quantile) / 1_000;
      return { tag, met, sure, needed, ms, beyond, count: histogram.count };
    });
    const worst = outcomes.reduce((a, b) => (b.ms > a.ms ? b : a));
    const allMet = outcomes.every(({ met }) => met);
    return {
      clause: clause.text,
      met: allMet,
      // One class that certainly misses decides; to pass, all of them must certainly meet.
      sure: allMet ? outcomes.every(({ sure }) => sure) : outcomes.some(({ met, sure }) => !met && sure),
      observed: `${formatNumber(worst.ms, 1)} ms; ${formatNumber(worst.beyond)} of ${formatNumber(worst.count)} over ${formatNumber(clause.belowMs)} ms`,
      needed: outcomes.find((outcome) => outcome.met === allMet && !outcome.sure)?.needed,
    };
  });
}

function shareOutcome(clause: string, count: number, of: number, allowed: number): ClauseOutcome {
  const share = of === 0 ? 1 : count / of;
  const met = of > 0 && share <= allowed;
  const isDecidedBy = (requests: number) => {
    const { low, high } = wilson({ count: share * requests, of: requests }, 0.95);
    return met ? high <= allowed : low > allowed;
  };
  const sure = isDecidedBy(of);
  const needed = sure ? undefined : minRequestsToDecide(isDecidedBy, of);
  return { clause, met, sure, observed: `${(share * 100).toFixed(2)} % of ${formatNumber(of)}`, needed };
}

/** Larger numbers of requests are not proposed. */
const MAX_NEEDED = 10_000_000;

/** The smallest number of requests, above one that does not suffice, that decides. */
function minRequestsToDecide(decides: (requests: number) => boolean, tooFew: number): number | undefined {
  let low = tooFew;
  let high = Math.max(1, tooFew);
  while (!decides(high)) {
    if (high > MAX_NEEDED) return undefined;
    low = high;
    high *= 2;
  }
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (decides(middle)) high = middle;
    else low = middle;
  }
  return high;
}

/** Number of values above a bound; the histogram knows shares, to a thousandth of a value. */
function countBeyond(histogram: Histogram, boundUs: number): number {
  let low = 0;
  let high = 1;
  for (let step = 0; step < 40; step++) {
    const middle = (low + high) / 2;
    if (histogram.quantileUs(middle) <= boundUs) low = middle;
    else high = middle;
  }
  return high === 1 ? 0 : Math.round((1 - low) * histogram.count);
}
