import { deviation, mean } from "../core/index.ts";
import type { ComparedMetric } from "../record/index.ts";
import { COMPARED_COUNTS, type ComparedCounts, countsOf } from "./counts.ts";
import { detectableChange, holm, minPairsFor, newcombe, pairedInterval, pairsNeeded, signFlipP } from "./paired.ts";
import { adjustForLengths, TOKENS_PER_REPLY } from "./reply-lengths.ts";

/** The parts of one side's traffic block that are compared. */
export interface Block {
  /** Quantiles in ms by name, such as `chat stream ttft_ms p95`; `null` if there were too few samples. */
  readonly quantiles: Readonly<Record<string, number | null>>;
  /** Output tokens per admitted reply by class, such as `chat stream`. */
  readonly tokensPerReply: Readonly<Record<string, number>>;
  readonly sent: number;
  readonly counts: ComparedCounts;
  /** Bounds that the generator exceeded in it. */
  readonly problems: readonly string[];
}

/** Two blocks that ran next to each other. */
export interface Pair {
  readonly a: Block;
  readonly b: Block;
}

/**
 * Merges the two blocks that the first build ran in a round, using the mean of their logarithms. With half the noise on one side,
 * the same number of pairs detects a smaller change, and a block before and one after cancel the drift between them.
 */
export function together(a: Block, again: Block): Block {
  const namesOf = (some: object, others: object) => [...new Set([...Object.keys(some), ...Object.keys(others)])];
  const middle = (one: number | null = null, other: number | null = null) =>
    one === null || other === null ? null : Math.sqrt(one * other);
  return {
    quantiles: Object.fromEntries(
      namesOf(a.quantiles, again.quantiles).map((name) => [name, middle(a.quantiles[name], again.quantiles[name])]),
    ),
    tokensPerReply: Object.fromEntries(
      namesOf(a.tokensPerReply, again.tokensPerReply).flatMap((name) => {
        const tokens = middle(a.tokensPerReply[name], again.tokensPerReply[name]);
        return tokens === null ? [] : [[name, tokens]];
      }),
    ),
    sent: a.sent + again.sent,
    counts: countsOf((what) => a.counts[what] + again.counts[what]),
    problems: [...a.problems, ...again.problems],
  };
}

/** How much a figure may change before it matters. */
interface Margin {
  readonly relative: number;
  /** Smaller changes do not matter, however large they are in percent, ms. */
  readonly floorMs: number;
}

const MARGINS: Readonly<Record<string, Margin>> = {
  p50: { relative: 0.03, floorMs: 1 },
  p95: { relative: 0.05, floorMs: 2 },
  p99: { relative: 0.1, floorMs: 3 },
};
/** The latency margins in words, because a margin that is shown as a percentage may come from the floor. */
export const LATENCY_MARGINS = Object.entries(MARGINS)
  .map(([stat, { relative, floorMs }]) => `${relative * 100} % of ${stat}, at least ${floorMs} ms`)
  .join("; ");
const SHARE_MARGIN = 0.01;
/** Margin of the output tokens per reply: models vary by this much on their own. */
const TOKENS_MARGIN = 0.1;

/** Confidence of the decision: each end of the interval is wrong in 5 of 100 cases. */
const CONFIDENCE = 0.9;
const ALPHA = 0.05;

/** Metrics that make the session inconclusive whenever they are undecided. Some of the others are so noisy that they always are. */
export function isPrimary({ name }: Pick<ComparedMetric, "name">): boolean {
  return /_share$|tokens_per_reply$|(?:response_ms|ttft_ms) p(?:50|95)$/.test(name);
}

/** How far beyond its margin the interval of a tail or a gap may extend before it may hide a regression. */
const TAIL_TOLERANCE = 0.5;

/**
 * Whether an undecided metric may hide a regression, so that the session cannot be called "not worse". A tail or a gap may, if one side has
 * no value, if it changed by more than its margin, or if its interval is wide.
 */
export function mayHideRegression(metric: ComparedMetric): boolean {
  const { verdict, change, high, margin } = metric;
  if (verdict !== "inconclusive") return false;
  return isPrimary(metric) || change === null || high === null || change > margin || high > TAIL_TOLERANCE + margin;
}

/**
 * Compares each figure: paired differences of the logarithms, an interval over pairs, a permutation test corrected over all
 * figures, and a decision against the practical margin.
 *
 * @param seed for the resampling: the same pairs and seed give the same verdicts.
 */
export function judgeMetrics(pairs: readonly Pair[], seed: number): ComparedMetric[] {
  const names = [
    ...new Set(pairs.flatMap(({ a, b }) => [...Object.keys(a.quantiles), ...Object.keys(b.quantiles)])),
  ].sort();
  const classes = [...new Set(pairs.flatMap(({ a }) => Object.keys(a.tokensPerReply)))].sort();
  const metrics = [
    ...names
      .filter((name) => isPrimary({ name }) || wasMeasured(name, pairs))
      .map((name, index) => latencyMetric(name, pairs, seed + index)),
    ...classes.map((name, index) => tokensMetric(name, pairs, seed + names.length + index)),
    ...COMPARED_COUNTS.map((what) => shareMetric(what, pairs, seed)),
  ];
  const tested = metrics.filter(({ p }) => p !== null);
  const corrected = holm(tested.map(({ p }) => p ?? 1));
  const byName = new Map(tested.map(({ name }, index) => [name, corrected[index] ?? 1]));
  return adjustForLengths(
    metrics.map((metric) => decide({ ...metric, pHolm: byName.get(metric.name) ?? null }, tested.length)),
  );
}

/** Whether any block has a value. Blocks that are too short for a tail have none on either side. */
function wasMeasured(name: string, pairs: readonly Pair[]): boolean {
  return pairs.some(({ a, b }) => (a.quantiles[name] ?? null) !== null || (b.quantiles[name] ?? null) !== null);
}

interface Measured extends Omit<ComparedMetric, "verdict" | "why" | "neededPairs"> {
  readonly spread: number | null;
  /** Why the change is unknown; empty if it is known. */
  readonly missing: string;
}

function latencyMetric(name: string, pairs: readonly Pair[], seed: number): Measured {
  const { relative, floorMs } = MARGINS[name.split(" ").at(-1) ?? ""] ?? { relative: 0.05, floorMs: 2 };
  const values = pairs.map(({ a, b }) => ({ before: a.quantiles[name] ?? null, now: b.quantiles[name] ?? null }));
  return ratioMetric({ name, unit: "ms", worse: "higher" }, values, {
    seed,
    marginAt: (base) => Math.max(relative, floorMs / base),
  });
}

function tokensMetric(name: string, pairs: readonly Pair[], seed: number): Measured {
  const values = pairs.map(({ a, b }) => ({
    before: a.tokensPerReply[name] ?? null,
    now: b.tokensPerReply[name] ?? null,
  }));
  const frame = { name: `${name} ${TOKENS_PER_REPLY}`, unit: "tokens", worse: "lower" } as const;
  return ratioMetric(frame, values, { seed, marginAt: () => TOKENS_MARGIN });
}

interface PairOfValues {
  readonly before: number | null;
  readonly now: number | null;
}

/** A metric that is compared by its ratio. */
function ratioMetric(
  named: Pick<ComparedMetric, "name" | "unit" | "worse">,
  values: readonly PairOfValues[],
  { seed, marginAt }: { readonly seed: number; readonly marginAt: (base: number) => number },
): Measured {
  const whole = values.flatMap(({ before, now }) =>
    before === null || now === null || before <= 0 || now <= 0 ? [] : [{ before, now }],
  );
  const frame = { ...named, pairs: whole.length };
  // Pairs are never dropped individually: values missing from some blocks are missing for a reason.
  if (whole.length < values.length || whole.length < 2) {
    return { ...frame, a: null, b: null, ...NOTHING, margin: 0, ...whyMissing(values) };
  }
  const differences = whole.map(({ before, now }) => Math.log(now / before));
  const base = geometricMean(whole.map(({ before }) => before));
  const { low, high } = pairedInterval(differences, { confidence: CONFIDENCE, seed });
  const spread = deviation(differences);
  return {
    ...frame,
    a: base,
    b: geometricMean(whole.map(({ now }) => now)),
    change: Math.expm1(mean(differences)),
    low: Math.expm1(low),
    high: Math.expm1(high),
    margin: marginAt(base),
    p: signFlipP(differences, seed),
    pHolm: null,
    detectable: Math.expm1(detectableChange(spread, whole.length)),
    spread,
    missing: "",
  };
}

const NOTHING = { change: null, low: null, high: null, p: null, pHolm: null, detectable: null, spread: null };

function shareMetric(what: keyof ComparedCounts, pairs: readonly Pair[], seed: number): Measured {
  const total = (side: "a" | "b") => ({
    count: pairs.reduce((sum, pair) => sum + pair[side].counts[what], 0),
    of: pairs.reduce((sum, pair) => sum + pair[side].sent, 0),
  });
  const [a, b] = [total("a"), total("b")];
  const frame = { name: `${what}_share`, unit: "share" as const, worse: "higher" as const, pairs: pairs.length };
  if (a.of === 0 || b.of === 0)
    return { ...frame, a: null, b: null, ...NOTHING, margin: SHARE_MARGIN, ...tooFewSamples("some blocks") };
  const differences = pairs.map(
    (pair) => pair.b.counts[what] / Math.max(1, pair.b.sent) - pair.a.counts[what] / Math.max(1, pair.a.sent),
  );
  const { low, high } = newcombe(a, b, CONFIDENCE);
  const spread = deviation(differences);
  return {
    ...frame,
    a: a.count / a.of,
    b: b.count / b.of,
    change: b.count / b.of - a.count / a.of,
    low,
    high,
    margin: SHARE_MARGIN,
    p: signFlipP(differences, seed),
    pHolm: null,
    detectable: detectableChange(spread, pairs.length),
    spread,
    missing: "",
  };
}

const tooFewSamples = (blocks: NonNullable<ComparedMetric["tooFewSamplesIn"]>) => ({
  missing: `too few samples in ${blocks}`,
  tooFewSamplesIn: blocks,
});

function whyMissing(values: readonly PairOfValues[]): Pick<Measured, "missing" | "tooFewSamplesIn"> {
  const lost = values.filter(({ now }) => now === null).length;
  if (values.every(({ before }) => before !== null) && lost > 0)
    return {
      missing: `the second build has no value${lost < values.length ? ` in ${lost} of ${values.length} blocks` : ""}`,
    };
  return tooFewSamples(
    values.every(({ before, now }) => before === null && now === null) ? "every block" : "some blocks",
  );
}

function decide({ spread, missing, ...metric }: Measured, figures: number): ComparedMetric {
  const { low, high, change, margin, pHolm, pairs, unit } = metric;
  const verdictOf = (verdict: ComparedMetric["verdict"], why: string, neededPairs: number | null = null) => ({
    ...metric,
    ...{ neededPairs, verdict, why },
  });
  if (low === null || high === null || change === null || pHolm === null || spread === null)
    return verdictOf("inconclusive", missing);
  // If lower is worse, the interval is mirrored.
  const isLower = metric.worse === "lower";
  const [best, worst] = isLower ? [-high, -low] : [low, high];
  const significant = pHolm < ALPHA;
  if (best > margin && significant) return verdictOf("regressed", "the whole interval lies beyond the margin");
  if (worst < -margin && significant) {
    return unit === "tokens"
      ? verdictOf("inconclusive", "the replies of the second build are longer, so it did different work")
      : verdictOf("improved", "the whole interval lies beyond the margin, in the better direction");
  }
  if (worst < margin) return verdictOf("not worse", "the whole interval lies below the margin");
  const scale = (value: number) => (unit === "share" ? value : Math.log1p(value));
  const edge = Math.abs(scale(isLower ? -margin : margin));
  const place = isLower ? -scale(change) : scale(change);
  // A change exactly at the margin can never be distinguished from it; a quarter of the margin is close enough.
  const needed = Math.max(
    minPairsFor(figures),
    pairs + 1,
    pairsNeeded(spread, Math.max(Math.abs(place - edge), edge / 4)),
  );
  const why =
    best > margin
      ? `the whole interval lies beyond the margin, but ${pairs} pairs are too few to rule out chance`
      : "the interval contains the margin";
  return verdictOf("inconclusive", `${why}; about ${needed} pairs would decide it`, needed);
}

function geometricMean(values: readonly number[]): number {
  return Math.exp(mean(values.map(Math.log)));
}
