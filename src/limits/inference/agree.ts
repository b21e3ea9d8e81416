/** Bounds on the limit: at least `value` for an admission, at most `value` for a denial. */
export interface Bounds {
  readonly atLeast: readonly number[];
  readonly atMost: readonly number[];
}

/** Whether an explanation has hardly more misses than the best one: a stall of this machine alone causes a few. */
export function nearlyAsGood(misses: number, best: number, attempts: number): boolean {
  return misses <= best + 2 + attempts * 0.005;
}

/** How many bounds a limit contradicts. */
export function missesOf({ atLeast, atMost }: Bounds, limit: number): number {
  return atLeast.filter((floor) => floor > limit).length + atMost.filter((ceiling) => ceiling < limit).length;
}

export interface Agreement {
  readonly misses: number;
  /** The range of limits that contradict equally few bounds. */
  readonly low: number;
  readonly high: number;
}

/** Finds the limits that contradict the fewest bounds. */
export function agree({ atLeast, atMost }: Bounds): Agreement {
  const floors = Float64Array.from(atLeast).sort();
  const ceilings = Float64Array.from(atMost).sort();
  // Misses change only at a bound: try each of them, in ascending order.
  let best: Agreement = { misses: Number.POSITIVE_INFINITY, low: 0, high: 0 };
  let met = 0;
  let exceeded = 0;
  let next = 0;
  while (met < floors.length || next < ceilings.length) {
    const candidate = Math.min(floors[met] ?? Number.POSITIVE_INFINITY, ceilings[next] ?? Number.POSITIVE_INFINITY);
    exceeded = next;
    while (met < floors.length && (floors[met] as number) <= candidate) met++;
    while (next < ceilings.length && (ceilings[next] as number) <= candidate) next++;
    const misses = floors.length - met + exceeded;
    if (misses < best.misses) best = { misses, low: candidate, high: candidate };
    else if (misses === best.misses) best = { ...best, high: candidate };
  }
  return best;
}
