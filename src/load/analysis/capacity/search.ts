/** The result of a level of load. */
export interface Measured {
  readonly level: number;
  readonly met: boolean;
}

export interface SearchPlan {
  readonly from: number;
  readonly to: number;
  /** Levels closer together than this share count as the same. */
  readonly within: number;
  /** Integers only. */
  readonly whole: boolean;
}

export interface Searched<M extends Measured> {
  /** Highest level that met the objective; `undefined` if none did. */
  readonly best: M | undefined;
  /** Lowest level above it that did not. */
  readonly beyond: M | undefined;
  readonly steps: readonly M[];
}

/**
 * Doubles the level until the objective is missed, or halves it until it is met, then bisects.
 *
 * @param measure runs a level; `undefined` ends the search with the results so far.
 */
export async function search<M extends Measured>(
  { from, to, within, whole }: SearchPlan,
  measure: (level: number) => Promise<M | undefined>,
): Promise<Searched<M>> {
  const steps: M[] = [];
  let best: M | undefined;
  let beyond: M | undefined;
  const round = (level: number) => (whole ? Math.max(1, Math.round(level)) : level);
  let level = round(Math.min(from, to));
  for (;;) {
    const measured = await measure(level);
    if (measured === undefined) break;
    steps.push(measured);
    if (measured.met) best = measured;
    else beyond = measured;
    const next = nextLevel(best?.level, beyond?.level, level, to);
    if (next === undefined) break;
    const rounded = round(next);
    const low = best?.level ?? 0;
    const high = beyond?.level ?? Number.POSITIVE_INFINITY;
    const close = beyond !== undefined && high - low <= high * within;
    if (close || rounded <= low || rounded >= high || high < from / 1_000) break;
    level = rounded;
  }
  return { best, beyond, steps };
}

function nextLevel(good: number | undefined, bad: number | undefined, level: number, to: number): number | undefined {
  if (good === undefined) return level / 2;
  if (bad === undefined) return level >= to ? undefined : Math.min(to, level * 2);
  return (good + bad) / 2;
}
