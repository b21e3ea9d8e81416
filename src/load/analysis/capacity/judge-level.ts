import { wilson } from "../../../core/index.ts";
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
      const { met, sure } = shareOutcome(clause.text, beyond, histogram.count, 1 - clause.quantile);
      const ms = histogram.quantileUs(clause.quantile) / 1_000;
      return { tag, met, sure, ms, beyond, count: histogram.count };
    });
    const worst = outcomes.reduce((a, b) => (b.ms > a.ms ? b : a));
    const allMet = outcomes.every(({ met }) => met);
    return {
      clause: clause.text,
      met: allMet,
      // One class that certainly misses decides; to pass, all of them must certainly meet.
      sure: allMet ? outcomes.every(({ sure }) => sure) : outcomes.some(({ met, sure }) => !met && sure),
      observed: `${worst.ms.toFixed(1)} ms, ${worst.beyond} of ${worst.count} beyond`,
    };
  });
}

function shareOutcome(clause: string, count: number, of: number, allowed: number): ClauseOutcome {
  const share = of === 0 ? 1 : count / of;
  const met = of > 0 && share <= allowed;
  const { low, high } = wilson({ count, of }, 0.95);
  return {
    clause,
    met,
    sure: met ? high <= allowed : low > allowed,
    observed: `${(share * 100).toFixed(2)} % of ${of}`,
  };
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
