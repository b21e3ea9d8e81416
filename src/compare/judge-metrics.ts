import type { ComparedMetric } from "../record/index.ts";
import {
  detectableChange,
  deviation,
  fewestPairs,
  holm,
  mean,
  newcombe,
  pairedInterval,
  pairsNeeded,
  signFlipP,
} from "./paired.ts";

/** One side's block of traffic, as far as it is compared. */
export interface Block {
  /** Quantiles in ms by name, such as `chat stream ttft_ms p95`; `null` where there were too few samples. */
  readonly quantiles: Readonly<Record<string, number | null>>;
  readonly sent: number;
  readonly admitted: number;
  readonly denied: number;
  readonly failed: number;
  /** Bounds that the generator broke in it. */
  readonly problems: readonly string[];
}

/** Two blocks that ran next to each other. */
export interface Pair {
  readonly a: Block;
  readonly b: Block;
}

/**
 * Both blocks that the first build ran in a round, as one: the middle of their logarithms. With the noise of one side halved
 * the same number of pairs sees a smaller change, and a block before and one after cancel what drifts between them.
 */
export function together(a: Block, again: Block): Block {
  const names = [...new Set([...Object.keys(a.quantiles), ...Object.keys(again.quantiles)])];
  return {
    quantiles: Object.fromEntries(
      names.map((name) => {
        const [one, other] = [a.quantiles[name] ?? null, again.quantiles[name] ?? null];
        return [name, one === null || other === null ? null : Math.sqrt(one * other)];
      }),
    ),
    sent: a.sent + again.sent,
    admitted: a.admitted + again.admitted,
    denied: a.denied + again.denied,
    failed: a.failed + again.failed,
    problems: [...a.problems, ...again.problems],
  };
}

/** What a change of a figure may come to before it matters. */
interface Margin {
  readonly relative: number;
  /** Below this a change does not matter however large it is in percent, ms. */
  readonly floorMs: number;
}

const MARGINS: Readonly<Record<string, Margin>> = {
  p50: { relative: 0.03, floorMs: 1 },
  p95: { relative: 0.05, floorMs: 2 },
  p99: { relative: 0.1, floorMs: 3 },
};
const SHARE_MARGIN = 0.01;

/** Of the decision: each end of the interval is wrong in 5 of 100 cases. */
const CONFIDENCE = 0.9;
const ALPHA = 0.05;

/** Figures that decide; the others are shown beside them, because their noise would make every comparison inconclusive. */
export function isPrimary({ name }: Pick<ComparedMetric, "name">): boolean {
  return /_share$|(?:response_ms|ttft_ms) p(?:50|95)$/.test(name);
}

/**
 * Compares figure by figure: paired differences of the logarithms, an interval over pairs, a permutation test, corrected
 * over all figures, and a decision against the practical margin.
 *
 * @param seed of the resampling: the same pairs and seed give the same verdicts.
 */
export function judgeMetrics(pairs: readonly Pair[], seed: number): ComparedMetric[] {
  const names = [
    ...new Set(pairs.flatMap(({ a, b }) => [...Object.keys(a.quantiles), ...Object.keys(b.quantiles)])),
  ].sort();
  const metrics = [
    ...names.map((name, index) => quantileMetric(name, pairs, seed + index)),
    ...(["denied", "failed"] as const).map((what) => shareMetric(what, pairs, seed)),
  ];
  const tested = metrics.filter(({ p }) => p !== null);
  const corrected = holm(tested.map(({ p }) => p ?? 1));
  const byName = new Map(tested.map(({ name }, index) => [name, corrected[index] ?? 1]));
  return metrics.map((metric) => decide({ ...metric, pHolm: byName.get(metric.name) ?? null }, tested.length));
}

type Measured = Omit<ComparedMetric, "verdict" | "why" | "neededPairs"> & { readonly spread: number | null };

function quantileMetric(name: string, pairs: readonly Pair[], seed: number): Measured {
  const values = pairs.flatMap(({ a, b }) => {
    const [before, now] = [a.quantiles[name] ?? null, b.quantiles[name] ?? null];
    return before === null || now === null || before <= 0 || now <= 0 ? [] : [{ before, now }];
  });
  const frame = { name, unit: "ms" as const, worse: "higher" as const, pairs: values.length };
  // Pairs are never dropped one by one: what is missing in some blocks is missing for a reason.
  if (values.length < pairs.length || values.length < 2) {
    return { ...frame, a: null, b: null, ...NOTHING, margin: 0 };
  }
  const differences = values.map(({ before, now }) => Math.log(now / before));
  const base = geometricMean(values.map(({ before }) => before));
  const { relative, floorMs } = MARGINS[name.split(" ").at(-1) ?? ""] ?? { relative: 0.05, floorMs: 2 };
  const { low, high } = pairedInterval(differences, { confidence: CONFIDENCE, seed });
  const spread = deviation(differences);
  return {
    ...frame,
    a: base,
    b: geometricMean(values.map(({ now }) => now)),
    change: Math.expm1(mean(differences)),
    low: Math.expm1(low),
    high: Math.expm1(high),
    margin: Math.max(relative, floorMs / base),
    p: signFlipP(differences, seed),
    pHolm: null,
    detectable: Math.expm1(detectableChange(spread, values.length)),
    spread,
  };
}

const NOTHING = { change: null, low: null, high: null, p: null, pHolm: null, detectable: null, spread: null };

function shareMetric(what: "denied" | "failed", pairs: readonly Pair[], seed: number): Measured {
  const total = (side: "a" | "b") => ({
    count: pairs.reduce((sum, pair) => sum + pair[side][what], 0),
    of: pairs.reduce((sum, pair) => sum + pair[side].sent, 0),
  });
  const [a, b] = [total("a"), total("b")];
  const frame = { name: `${what}_share`, unit: "share" as const, worse: "higher" as const, pairs: pairs.length };
  if (a.of === 0 || b.of === 0) return { ...frame, a: null, b: null, ...NOTHING, margin: SHARE_MARGIN };
  const differences = pairs.map(
    (pair) => pair.b[what] / Math.max(1, pair.b.sent) - pair.a[what] / Math.max(1, pair.a.sent),
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
  };
}

function decide({ spread, ...metric }: Measured, figures: number): ComparedMetric {
  const { low, high, change, margin, pHolm, pairs } = metric;
  if (low === null || high === null || change === null || pHolm === null || spread === null) {
    return { ...metric, neededPairs: null, verdict: "inconclusive", why: "too few samples in some blocks" };
  }
  const significant = pHolm < ALPHA;
  if (low > margin && significant) {
    return { ...metric, neededPairs: null, verdict: "regressed", why: "the whole interval lies beyond the margin" };
  }
  if (high < -margin && significant) {
    return {
      ...metric,
      neededPairs: null,
      verdict: "improved",
      why: "the whole interval lies beyond the margin, on the good side",
    };
  }
  if (high < margin)
    return { ...metric, neededPairs: null, verdict: "not worse", why: "the whole interval lies below the margin" };
  const edge = metric.unit === "share" ? margin : Math.log1p(margin);
  const place = metric.unit === "share" ? change : Math.log1p(change);
  // A change that lies at the margin itself is never distinguished from it; a quarter of the margin is near enough.
  const needed = Math.max(
    fewestPairs(figures),
    pairs + 1,
    pairsNeeded(spread, Math.max(Math.abs(place - edge), edge / 4)),
  );
  return {
    ...metric,
    neededPairs: needed,
    verdict: "inconclusive",
    why: `the interval holds the margin; needs about ${needed} pairs`,
  };
}

function geometricMean(values: readonly number[]): number {
  return Math.exp(mean(values.map(Math.log)));
}
