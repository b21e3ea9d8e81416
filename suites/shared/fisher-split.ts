/** A check that compares shares fails a sound gateway at most this often. */
export const MAX_FALSE_FAILURE = 1e-4;

interface Split {
  /** Trials of the control in which it was seen, and its trials. */
  readonly hits: number;
  readonly of: number;
  /** Trials under test, in none of which it was seen. */
  readonly others: number;
}

/**
 * How likely it is that all hits fall on the control if both are equally likely to have one: Fisher's exact test for none in one of two
 * groups, whatever that likelihood is.
 */
export function fisherSplit({ hits, of, others }: Split): number {
  let chance = 1;
  for (let hit = 0; hit < hits; hit++) chance *= (of - hit) / (of + others - hit);
  return chance;
}
