import type { MeasuredShare } from "../core/index.ts";
import { judgeDenials, judgeShares, measuredShare } from "./compare-shares.ts";
import type { ComparedMetric } from "./sections/comparison-section.ts";

/** One figure of two runs made at different times. */
export interface FigurePair extends Pick<ComparedMetric, "name" | "unit" | "worse" | "a" | "b"> {
  /** Minimum number of samples behind the two values; `undefined`: unknown. */
  readonly samples?: number | undefined;
  /** One of the two runs has too few independent requests for an interval: a large difference may be chance. */
  readonly lacksInterval?: boolean;
  /** The 95 % intervals of two shares; without them, the samples count as independent. */
  readonly shares?: { readonly a: MeasuredShare; readonly b: MeasuredShare } | undefined;
  /** Why the two are not comparable, such as different machines. */
  readonly notComparable?: string | undefined;
  /** Two runs of one build may differ by up to this factor. */
  readonly noiseFactor?: number | undefined;
}

/**
 * Day-to-day differences of machines: published repetitions of the same measurement differ by up to 2.1 times. Beyond this
 * factor the gateway is the likelier cause.
 */
const NOISE_FACTOR = 2.5;
/** Smaller differences in ms are ignored whatever their factor, by quantile. */
const NOISE_MS: Readonly<Record<string, number>> = { p50: 5, p90: 10, p95: 10, p99: 20 };
const OTHER_NOISE_MS = 20;
/** Tokens per reply do not depend on the machine: the same prompts and limits lead to replies of about the same length. */
const NOISE_TOKENS = 1.25;
/** Up to this factor the second is not worse: an interleaved session would also ignore it. */
const SAME_FACTOR = 1.1;
/** Normal differences between two runs of one build on one machine, by quantile, ms. */
const SAME_MS: Readonly<Record<string, number>> = { p50: 2, p90: 3, p95: 3, p99: 5 };
const OTHER_SAME_MS = 2;
const MIN_SAMPLES = 30;

/**
 * Compares a figure of two separate runs: shares by their intervals; of the others, only what exceeds the day-to-day noise is
 * decided. This is weaker evidence than an interleaved session.
 */
export function compareSeparateRuns(figure: FigurePair): ComparedMetric {
  const { name, unit, worse, a, b, samples, notComparable } = figure;
  const change = changeOf(figure);
  const metric = {
    ...{ name, unit, worse, a, b, change, pairs: 1, low: null, high: null, margin: 0 },
    ...{ p: null, pHolm: null, detectable: null, neededPairs: null },
  };
  const open = (why: string): ComparedMetric => ({ ...metric, verdict: "inconclusive", why });
  if (notComparable !== undefined) return open(notComparable);
  if (a === null || b === null)
    return open(b === null ? "lost: only the first run measured it" : "only the second run measured it");
  if (unit === "share") {
    const of = samples ?? 0;
    const shares = figure.shares ?? { a: measuredShare(a, of), b: measuredShare(b, of) };
    const judge = /\bdenied_share/.test(name) ? judgeDenials : judgeShares;
    const judged = judge({ ...shares, worse, requests: of });
    // Few requests can show that a share is worse, but not that it is the same.
    return judged.verdict === "not worse" && of < MIN_SAMPLES ? open(tooFew(of)) : { ...metric, ...judged };
  }
  if (samples !== undefined && samples < MIN_SAMPLES) return open(tooFew(samples));
  if (change === null) return open("it was 0 in the first run");
  const [from, to] = worse === "higher" ? [a, b] : [b, a];
  if (figure.lacksInterval === true && (isBeyondNoise(from, to, figure) || isBeyondNoise(to, from, figure)))
    return open("too few independent requests to decide");
  if (isBeyondNoise(from, to, figure))
    return { ...metric, verdict: "regressed", why: REGRESSED[unit] ?? beyond(figure) };
  if (isBeyondNoise(to, from, figure)) {
    if (unit === "tokens") return open("the replies of the second run are longer, so it did different work");
    return { ...metric, verdict: "improved", why: `${beyond(figure)}, in the better direction` };
  }
  return isSame(from, to, figure)
    ? { ...metric, verdict: "not worse", why: "" }
    : open(unit === "tokens" ? "the replies are shorter" : within(figure));
}

const tooFew = (samples: number): string => `it has ${samples} samples, and ${MIN_SAMPLES} are needed`;

type Noise = Pick<FigurePair, "noiseFactor">;

/** Which changes of a latency are ignored, and which are decided, in a sentence. */
export function separateRunBounds({ noiseFactor = NOISE_FACTOR }: Noise): string {
  const listed = (bounds: Readonly<Record<string, number>>) =>
    Object.entries(bounds)
      .map(([stat, ms]) => `${ms} ms at ${stat}`)
      .join(", ");
  return `a latency is not worse if it rises by at most ${Math.round((SAME_FACTOR - 1) * 100)} %, or by at most ${listed(SAME_MS)}; a larger change is decided only if it exceeds both a factor of ${noiseFactor} and ${listed(NOISE_MS)}`;
}

const within = ({ noiseFactor = NOISE_FACTOR }: Noise) =>
  `separate runs of one build may differ by up to ${noiseFactor} times`;
const beyond = ({ noiseFactor = NOISE_FACTOR }: Noise) =>
  `beyond the factor of ${noiseFactor} by which separate runs of one build may differ`;
const REGRESSED: Readonly<Partial<Record<ComparedMetric["unit"], string>>> = {
  tokens: "the replies are much shorter",
};

function changeOf({ unit, a, b }: FigurePair): number | null {
  if (a === null || b === null) return null;
  if (unit === "share") return b - a;
  if (a === 0) return b === 0 ? 0 : null;
  return b / a - 1;
}

function isSame(from: number, to: number, { name, unit }: FigurePair): boolean {
  return to <= from * SAME_FACTOR || (unit === "ms" && to - from <= (SAME_MS[statOf(name)] ?? OTHER_SAME_MS));
}

function statOf(name: string): string {
  return name.split(" ").at(-1) ?? "";
}

function isBeyondNoise(from: number, to: number, { name, unit, noiseFactor = NOISE_FACTOR }: FigurePair): boolean {
  if (unit === "tokens") return to > from * NOISE_TOKENS;
  const leastMs = unit === "ms" ? (NOISE_MS[statOf(name)] ?? OTHER_NOISE_MS) : 0;
  return to > from * noiseFactor && to - from > leastMs;
}
