import { normalCumulative, type Random, resamples, seededRandom, tQuantile } from "../core/index.ts";
import type { Added, AddedDifference } from "../record/index.ts";

/** One round: times of both arms, microseconds. A round in which either arm has no times is ignored. */
export interface Round {
  readonly direct: readonly number[];
  readonly through: readonly number[];
}

const QUANTILES = [
  ["p50", 0.5],
  ["p90", 0.9],
  ["p99", 0.99],
] as const;
/** Minimum number of times per arm for a quantile: two beyond it. */
const MIN_SAMPLES = { p50: 4, p90: 20, p99: 200 } as const;
const MIN_ROUNDS = 4;
/** Each end of an interval is wrong in this share of cases. */
const TAIL = 0.025;
const RESAMPLES = 1_000;
/** The longer a difference, the longer all processes slept and the later they woke up: by up to this share of it. */
const RESOLUTION_SHARE = 0.0075;
/** Maximum number of times kept per round and arm: evenly spaced among the sorted ones. */
const MAX_TIMES = 400;

/**
 * How much later the quantiles of one arm are than those of the other. Times of a round are taken relative to the median of its
 * direct requests, so that a machine that slows down for a while slows both; then all rounds are pooled. The interval comes from
 * resampling whole rounds, because requests of a round are not independent; its percentiles are expanded for few rounds
 * (Hesterberg, "What Teachers Should Know About the Bootstrap", 2015, section 5.3).
 *
 * @param options.resolutionUs differences below this stay invisible, however many rounds are run: each interval is widened by it
 * at both ends, and by 0.75 % of the difference.
 */
export function addedBetween(
  rounds: readonly Round[],
  { seed, resolutionUs }: { readonly seed: number; readonly resolutionUs: number },
): Added {
  const centred = rounds.filter(({ direct, through }) => direct.length > 0 && through.length > 0).map(fromMiddle);
  const count = centred.length;
  const direct = pool(centred.map((round) => round.direct));
  const through = pool(centred.map((round) => round.through));
  const times = Math.min(direct.size, through.size);
  const values = difference(direct, through, new Float64Array(count).fill(1));
  const resampled = count < MIN_ROUNDS ? [] : resample(direct, through, seededRandom(seed));
  const tail = expandedTail(count);
  const found = QUANTILES.map(([name], index): [keyof Added, AddedDifference] => {
    const sorted = resampled[index];
    const value = values[index] ?? 0;
    if (sorted === undefined || times < MIN_SAMPLES[name]) return [name, { value: null, low: null, high: null }];
    const at = (share: number) => sorted[Math.min(RESAMPLES - 1, Math.floor(share * RESAMPLES))] ?? 0;
    const grain = resolutionUs + Math.abs(value) * RESOLUTION_SHARE;
    return [name, inMs({ value, low: Math.min(value, at(tail)) - grain, high: Math.max(value, at(1 - tail)) + grain })];
  });
  return Object.fromEntries(found) as Added;
}

/** Sorted differences of each quantile over rounds drawn with replacement. */
function resample(direct: Pooled, through: Pooled, random: Random): readonly Float64Array[] {
  const resampled = QUANTILES.map(() => new Float64Array(RESAMPLES));
  const count = direct.sizes.length;
  const weights = new Float64Array(count);
  let draw = 0;
  for (const drawn of resamples(count, RESAMPLES, random)) {
    weights.fill(0);
    for (const round of drawn) weights[round] = (weights[round] ?? 0) + 1;
    const values = difference(direct, through, weights);
    for (const [index, sorted] of resampled.entries()) sorted[draw] = values[index] ?? 0;
    draw++;
  }
  return resampled.map((values) => values.sort());
}

function expandedTail(rounds: number): number {
  if (rounds < 2) return 0;
  return normalCumulative(-Math.sqrt(rounds / (rounds - 1)) * tQuantile(1 - TAIL, rounds - 1));
}

function inMs({ value, low, high }: Record<keyof AddedDifference, number>): AddedDifference {
  const round = (us: number) => Math.round(us) / 1_000;
  return { value: round(value), low: round(low), high: round(high) };
}

function fromMiddle({ direct, through }: Round): Round {
  const sorted = [...direct].sort((a, b) => a - b);
  const middle = sorted[Math.floor(sorted.length / 2)] ?? 0;
  const move = (values: readonly number[]) => values.map((value) => value - middle);
  return { direct: move(thin(sorted)), through: move(thin([...through].sort((a, b) => a - b))) };
}

/** An evenly spaced selection of sorted values: its quantiles are the same. */
function thin(sorted: readonly number[]): readonly number[] {
  if (sorted.length <= MAX_TIMES) return sorted;
  return Array.from({ length: MAX_TIMES }, (_, index) => {
    const place = Math.floor(((index + 0.5) * sorted.length) / MAX_TIMES);
    return sorted[place] ?? 0;
  });
}

/** All sorted times of an arm, each with its round. */
interface Pooled {
  readonly size: number;
  readonly values: Float64Array;
  readonly rounds: Uint16Array;
  /** Number of times in each round. */
  readonly sizes: readonly number[];
}

function pool(rounds: readonly (readonly number[])[]): Pooled {
  const all = rounds.flatMap((values, round) => values.map((value) => ({ value, round })));
  all.sort((a, b) => a.value - b.value);
  return {
    size: all.length,
    values: Float64Array.from(all, ({ value }) => value),
    rounds: Uint16Array.from(all, ({ round }) => round),
    sizes: rounds.map(({ length }) => length),
  };
}

function difference(direct: Pooled, through: Pooled, weights: Float64Array): number[] {
  const a = quantiles(direct, weights);
  return quantiles(through, weights).map((value, index) => value - (a[index] ?? 0));
}

/** Quantiles with each round counted according to its weight, in one pass over the times. */
function quantiles({ values, rounds, sizes }: Pooled, weights: Float64Array): number[] {
  let total = 0;
  for (const [round, size] of sizes.entries()) total += (weights[round] ?? 0) * size;
  const found: number[] = [];
  let before = 0;
  let last = 0;
  for (const [, share] of QUANTILES) {
    const target = share * total;
    while (last < values.length && before + (weights[rounds[last] ?? 0] ?? 0) < target) {
      before += weights[rounds[last] ?? 0] ?? 0;
      last++;
    }
    found.push(values[Math.min(last, values.length - 1)] ?? 0);
  }
  return found;
}

/** Quantiles of times in milliseconds; `null` if there are too few. */
export function quantilesMs(timesUs: readonly number[]): Record<keyof Added, number | null> {
  const sorted = [...timesUs].sort((a, b) => a - b);
  const of = (name: keyof typeof MIN_SAMPLES, share: number) =>
    sorted.length < MIN_SAMPLES[name] ? null : Math.round(sorted[Math.floor(share * sorted.length)] ?? 0) / 1_000;
  return { p50: of("p50", 0.5), p90: of("p90", 0.9), p99: of("p99", 0.99) };
}
