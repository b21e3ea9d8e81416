/** The probability that a check that compares shares fails a conformant gateway is at most this. */
export const MAX_FALSE_FAILURE = 1e-4;

interface Split {
  /** Trials of the control in which the effect was seen, and all trials of the control. */
  readonly hits: number;
  readonly of: number;
  /** Trials under test; the effect was seen in none of them. */
  readonly others: number;
}

/**
 * The probability that all hits fall in the control group by chance, if both groups have the same hit rate. This is Fisher's exact test
 * for zero hits in one of two groups; it does not depend on the hit rate.
 */
export function fisherSplit({ hits, of, others }: Split): number {
  let chance = 1;
  for (let hit = 0; hit < hits; hit++) chance *= (of - hit) / (of + others - hit);
  return chance;
}
