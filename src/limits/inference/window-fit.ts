import type { Sliced } from "../../core/index.ts";
import { agree, missesOf, nearlyAsGood } from "./agree.ts";
import { type Fit, type FitOptions, isCounted, returnsOf, type TimedDecision } from "./decision.ts";

/** Window lengths that are tried, in minutes: the interface specifies a minute, some gateways use others. */
const WINDOW_MINUTES = [1, 1 / 2, 1 / 4, 1 / 6, 1 / 12, 1 / 60];

/** An edge known less precisely than this share of the window could explain anything. */
const WIDEST_EDGE = 0.01;

/** A limiter that admits at most this many requests in the window that ends now. */
export function* fitSliding(attempts: readonly TimedDecision[], options: FitOptions): Sliced<Fit> {
  const fits: Fit[] = [];
  for (const minutes of WINDOW_MINUTES) {
    yield;
    const windowUs = options.minuteUs * minutes;
    const bounds = boundsOfWindow(attempts, options, (atUs) => atUs - windowUs);
    fits.push({ kind: "sliding", ...figuresOf(bounds, minutes), windowUs, edgeUs: undefined, edgeSlackUs: undefined });
  }
  return fewestMisses(fits);
}

/** A limiter that resets its count at the edges of windows of equal length. */
export function* fitFixed(attempts: readonly TimedDecision[], options: FitOptions, wallOffsetUs: number): Sliced<Fit> {
  const fits: Fit[] = [];
  for (const minutes of WINDOW_MINUTES) {
    const windowUs = options.minuteUs * minutes;
    for (const { edgeUs, spreadUs } of edgesOf(attempts, options.slackUs, windowUs, wallOffsetUs)) {
      yield;
      const phaseUs = ((edgeUs % windowUs) + windowUs) % windowUs;
      const begin = (atUs: number) => Math.floor((atUs - phaseUs) / windowUs) * windowUs + phaseUs;
      const nearUs = Math.max(spreadUs, options.slackUs);
      const bounds = boundsOfWindow(attempts, options, begin, nearUs);
      fits.push({ kind: "fixed", ...figuresOf(bounds, minutes), windowUs, edgeUs, edgeSlackUs: spreadUs });
    }
  }
  return fewestMisses(fits);
}

/** What a window of some minutes admits: all of it may be used at once. */
function figuresOf(
  { misses, limit, range }: ReturnType<typeof boundsOfWindow>,
  minutes: number,
): Pick<Fit, "misses" | "perMinute" | "perMinuteRange" | "burst" | "mostBurst"> {
  return {
    misses,
    perMinute: limit / minutes,
    perMinuteRange: [range[0] / minutes, range[1] / minutes],
    burst: limit,
    mostBurst: limit,
  };
}

/** Edges show where denials end: between a denial and the admission after it. */
function edgesOf(
  attempts: readonly TimedDecision[],
  slackUs: number,
  windowUs: number,
  wallOffsetUs: number,
): { readonly edgeUs: number; readonly spreadUs: number }[] {
  const edges = new Map<number, { edgeUs: number; spreadUs: number }>();
  const offer = (edgeUs: number, spreadUs: number) => {
    if (spreadUs > windowUs * WIDEST_EDGE) return;
    const name = Math.round((((edgeUs % windowUs) + windowUs) % windowUs) / slackUs);
    const known = edges.get(name);
    if (known === undefined || spreadUs < known.spreadUs) edges.set(name, { edgeUs, spreadUs });
  };
  const first = attempts[0];
  if (first !== undefined) offer(first.atUs - slackUs, slackUs);
  for (const { denial, admission } of returnsOf(attempts)) {
    const deniedUs = (attempts[denial] as TimedDecision).atUs;
    const spreadUs = ((attempts[admission] as TimedDecision).atUs - deniedUs) / 2;
    offer(deniedUs + spreadUs, spreadUs);
  }
  // Edges aligned with this machine's wall clock.
  offer(-(wallOffsetUs % windowUs), slackUs);
  return [...edges.values()];
}

/**
 * Bounds on the limit from the requests that were counted since the window began. Times are known up to the slack: for an
 * admission, only requests that were certainly in the window count; for a denial, all that possibly were.
 *
 * @param begin start of the window for a given time; never decreases over time.
 * @param nearUs fixed windows: closer to an edge than this, the window of an attempt is ambiguous.
 */
function boundsOfWindow(
  attempts: readonly TimedDecision[],
  options: FitOptions,
  begin: (atUs: number) => number,
  nearUs?: number,
): { readonly misses: number; readonly limit: number; readonly range: readonly [number, number] } {
  const { slackUs, deniedCount } = options;
  const counted = attempts.filter((attempt) => isCounted(attempt, options)).map(({ atUs }) => atUs);
  const sure = { from: 0, to: 0 };
  const possible = { from: 0, to: 0 };
  const plain = { from: 0, to: 0 };
  const heldAtDenials = new Map<number, number>();
  const atLeast: number[] = [];
  const atMost: number[] = [];
  let fullest = 0;
  for (const { atUs, verdict } of attempts) {
    if (verdict === "other") continue;
    const beginUs = begin(atUs);
    if (nearUs !== undefined && (atUs - beginUs < nearUs || begin(atUs + nearUs) > beginUs)) continue;
    const surely = between(counted, sure, beginUs + (nearUs ?? slackUs), atUs - slackUs);
    const possibly = between(counted, possible, beginUs - (nearUs ?? slackUs), atUs + slackUs);
    if (verdict === "admitted") {
      atLeast.push(surely + 1);
      fullest = Math.max(fullest, surely + 1);
    } else {
      atMost.push(deniedCount ? Math.max(1, possibly - 1) : possibly);
      const held = between(counted, plain, beginUs, atUs);
      heldAtDenials.set(held, (heldAtDenials.get(held) ?? 0) + 1);
    }
  }
  if (atMost.length === 0) return { misses: 0, limit: fullest, range: [fullest, Number.POSITIVE_INFINITY] };
  const agreement = agree({ atLeast, atMost });
  // Many denials occur at the limit: the most common count in the window is the best guess if it fits equally well.
  const usual = [...heldAtDenials].reduce((best, one) => (one[1] > best[1] ? one : best))[0];
  const misses = missesOf({ atLeast, atMost }, usual);
  const limit = Math.min(agreement.high, Math.max(agreement.low, fullest));
  return {
    misses: agreement.misses,
    limit: nearlyAsGood(misses, agreement.misses, attempts.length) ? usual : limit,
    range: [Math.min(agreement.low, usual), Math.max(agreement.high, usual)],
  };
}

/** How many of the sorted times are in [fromUs, toUs); the pointers only move forward. */
function between(moments: readonly number[], at: { from: number; to: number }, fromUs: number, toUs: number): number {
  while (at.to < moments.length && (moments[at.to] as number) < toUs) at.to++;
  while (at.from < moments.length && (moments[at.from] as number) < fromUs) at.from++;
  return Math.max(0, at.to - at.from);
}

function fewestMisses(fits: readonly Fit[]): Fit {
  return fits.reduce((best, fit) => (fit.misses < best.misses ? fit : best));
}
