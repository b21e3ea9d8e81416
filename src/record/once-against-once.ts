import type { ComparedMetric } from "./comparison-section.ts";

/** One figure of two runs that were made at different times. */
export interface FigureTwice extends Pick<ComparedMetric, "name" | "unit" | "worse" | "a" | "b"> {
  /** Fewest samples that either value rests on; `undefined`: unknown. */
  readonly samples?: number | undefined;
  /** Why the two say nothing about each other, such as another machine. */
  readonly apart?: string | undefined;
}

/**
 * What machines differ from day to day: published repeats of the same measurement differ by up to 2.1 times. Beyond this the
 * gateway is the likelier cause.
 */
const NOISE_FACTOR = 2.5;
/** Smaller differences in ms mean nothing whatever their factor, by quantile. */
const NOISE_MS: Readonly<Record<string, number>> = { p50: 5, p90: 10, p95: 10, p99: 20 };
const OTHER_NOISE_MS = 20;
/** For shares: the difference itself. */
const NOISE_SHARE = 0.05;
/** Up to this the second is not worse: what a session in which both take turns would also leave aside. */
const SAME_FACTOR = 1.1;
const SAME_MS = 2;
const SAME_SHARE = 0.01;
const FEWEST_SAMPLES = 30;

/**
 * Judges a figure of one run against that of another. There is no interval: only what lies beyond the noise between days is
 * decided, and it is weaker evidence than a session in which both take turns.
 */
export function onceAgainstOnce(figure: FigureTwice): ComparedMetric {
  const { name, unit, worse, a, b, samples, apart } = figure;
  const change = changeOf(figure);
  const metric = {
    ...{ name, unit, worse, a, b, change, pairs: 1, low: null, high: null, margin: 0 },
    ...{ p: null, pHolm: null, detectable: null, neededPairs: null },
  };
  if (a === null || b === null || change === null)
    return { ...metric, verdict: "inconclusive", why: "only one of the two runs measured it" };
  if (apart !== undefined) return { ...metric, verdict: "inconclusive", why: apart };
  if (samples !== undefined && samples < FEWEST_SAMPLES)
    return { ...metric, verdict: "inconclusive", why: `it rests on ${samples} samples, ${FEWEST_SAMPLES} are needed` };
  const [from, to] = worse === "higher" ? [a, b] : [b, a];
  if (isBeyondNoise(from, to, figure))
    return { ...metric, verdict: "regressed", why: "beyond what machines differ from day to day" };
  if (isBeyondNoise(to, from, figure))
    return { ...metric, verdict: "improved", why: "beyond what machines differ from day to day, on the good side" };
  const same =
    unit === "share" ? to - from <= SAME_SHARE : to <= from * SAME_FACTOR || (unit === "ms" && to - from <= SAME_MS);
  return same
    ? { ...metric, verdict: "not worse", why: "no worse than before, as far as two runs show it" }
    : { ...metric, verdict: "inconclusive", why: "within what machines differ from day to day" };
}

function changeOf({ unit, a, b }: FigureTwice): number | null {
  if (a === null || b === null) return null;
  if (unit === "share") return b - a;
  return a === 0 ? null : b / a - 1;
}

function isBeyondNoise(from: number, to: number, { name, unit }: FigureTwice): boolean {
  if (unit === "share") return to - from > NOISE_SHARE;
  const leastMs = unit === "ms" ? (NOISE_MS[name.split(" ").at(-1) ?? ""] ?? OTHER_NOISE_MS) : 0;
  return to > from * NOISE_FACTOR && to - from > leastMs;
}
