import { seededRandom } from "../../../src/core/index.ts";

export interface Coverable {
  readonly requests: number;
  /** How long it runs exclusively, ms. */
  readonly exclusiveMs: number;
  /** Is selected whatever it detects. */
  readonly isKept: boolean;
  /** Judges the traffic of other checks: what it detected with all of them it may not detect with a few, so it covers nothing. */
  readonly isInvariant: boolean;
  /** Names of the mutations that it detects. */
  readonly shows: ReadonlySet<string>;
}

export interface Bounds {
  readonly requests: number;
  readonly exclusiveMs: number;
}

/** The cost of a unit besides its requests: its place in a report. */
const MIN_COST = 0.2;
/** Attempts at a better selection, each of which drops part of the best one. */
const ATTEMPTS = 300;
const GIVEN_UP_SHARE = 0.15;
const SEED = 1;

/**
 * Budgeted maximum coverage: the units that detect most mutations within the bounds. Greedy by detected mutations per cost; then
 * random parts of the selection are dropped and refilled, and the best selection is kept.
 */
export function cover<T extends Coverable>(units: readonly T[], bounds: Bounds): readonly T[] {
  const random = seededRandom(SEED);
  const kept = units.filter(({ isKept }) => isKept);
  let best = fill(units, kept, bounds);
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const rest = best.filter((unit) => unit.isKept || random() > GIVEN_UP_SHARE);
    const other = fill(units, rest, bounds);
    if (isBetter(other, best)) best = other;
  }
  return best;
}

function fill<T extends Coverable>(units: readonly T[], begun: readonly T[], bounds: Bounds): T[] {
  const chosen = [...begun];
  const shown = shownBy(chosen);
  let { requests, exclusiveMs } = costOf(chosen);
  for (;;) {
    let best: { readonly unit: T; readonly gainPerRequest: number } | undefined;
    for (const unit of units) {
      if (chosen.includes(unit) || unit.isInvariant) continue;
      if (requests + unit.requests > bounds.requests || exclusiveMs + unit.exclusiveMs > bounds.exclusiveMs) continue;
      let gain = 0;
      for (const name of unit.shows) if (!shown.has(name)) gain++;
      const gainPerRequest = gain / (unit.requests + MIN_COST);
      if (gain > 0 && gainPerRequest > (best?.gainPerRequest ?? 0)) best = { unit, gainPerRequest };
    }
    if (best === undefined) return withoutIdle(chosen);
    chosen.push(best.unit);
    for (const name of best.unit.shows) shown.add(name);
    requests += best.unit.requests;
    exclusiveMs += best.unit.exclusiveMs;
  }
}

/** Without units that detect nothing that the others do not; the most expensive are dropped first. */
function withoutIdle<T extends Coverable>(chosen: readonly T[]): T[] {
  let rest = [...chosen];
  for (const unit of [...chosen].sort((a, b) => b.requests - a.requests)) {
    if (unit.isKept) continue;
    const others = rest.filter((other) => other !== unit);
    const shown = shownBy(others);
    if ([...unit.shows].every((name) => shown.has(name))) rest = others;
  }
  return rest;
}

function isBetter(one: readonly Coverable[], other: readonly Coverable[]): boolean {
  const more = shownBy(one).size - shownBy(other).size;
  return more > 0 || (more === 0 && costOf(one).requests < costOf(other).requests);
}

function shownBy(units: readonly Coverable[]): Set<string> {
  return new Set(units.flatMap(({ isInvariant, shows }) => (isInvariant ? [] : [...shows])));
}

function costOf(units: readonly Coverable[]): Bounds {
  return {
    requests: units.reduce((sum, unit) => sum + unit.requests, 0),
    exclusiveMs: units.reduce((sum, unit) => sum + unit.exclusiveMs, 0),
  };
}
