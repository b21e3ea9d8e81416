import { tQuantile } from "./student-t.ts";

/** How far the sum of a series may be from what it is on average. */
export interface SumSpread {
  /** Variance of the sum, with neighbours that go together taken into account. */
  readonly variance: number;
  /** How many standard deviations 95 % of sums stay within, either way: more than 1.96 where few blocks tell the variance. */
  readonly deviations: number;
}

/** Blocks below which a variance says nothing. */
export const MIN_BLOCKS = 8;
/** Neighbouring blocks that go together no more than this, in standard errors of blocks that do not, count as independent. */
const TOGETHER = 1;
/** Degree of the trend that is taken out: what grows or falls over a run is no chance. */
const TREND_DEGREE = 3;

/**
 * Variance of the sum of a series, such as counts of equal blocks of time, by batch means: neighbours are put together until
 * the batches are independent of each other (after Law and Carson, 1979), and a smooth trend is taken out first.
 *
 * @returns `undefined` for fewer than 8 blocks.
 */
export function sumSpread(series: readonly number[]): SumSpread | undefined {
  if (series.length < MIN_BLOCKS) return undefined;
  let batches = withoutTrend(series);
  const coarsest = 2 * MIN_BLOCKS;
  while (batches.length >= 2 * coarsest && isTogether(batches)) batches = inPairs(batches);
  const free = Math.max(1, batches.length - 1 - TREND_DEGREE);
  const variance = (squares(batches) * batches.length) / free;
  return { variance, deviations: tQuantile(0.975, free) };
}

/** How many standard deviations 95 % of a normal distribution stay within, either way. */
export const NORMAL_DEVIATIONS = 1.96;

/** How many things of a block of time there are, and how many of them are of a kind. */
export interface PartOfBlock {
  readonly count: number;
  readonly part: number;
}

/**
 * By how much more the share of a kind varies than that of as many independent things, as neighbouring blocks tell.
 *
 * @returns `undefined` where they cannot tell: fewer than 8 blocks, or all or none are of the kind.
 */
export function shareInflation(blocks: readonly PartOfBlock[]): number | undefined {
  const count = blocks.reduce((sum, block) => sum + block.count, 0);
  const share = blocks.reduce((sum, { part }) => sum + part, 0) / count;
  const spread = sumSpread(blocks.map((block) => block.part - share * block.count));
  if (spread === undefined || !(share > 0 && share < 1)) return undefined;
  return (spread.variance / (count * share * (1 - share))) * (spread.deviations / NORMAL_DEVIATIONS) ** 2;
}

/** Whether neighbours are on the same side more than chance has it. */
function isTogether(values: readonly number[]): boolean {
  let products = 0;
  for (let index = 1; index < values.length; index++) products += (values[index - 1] ?? 0) * (values[index] ?? 0);
  return products * Math.sqrt(values.length) > TOGETHER * squares(values);
}

/** Sums of two neighbours each; an odd one out stands with the last two. */
function inPairs(values: readonly number[]): number[] {
  return Array.from(
    { length: Math.floor(values.length / 2) },
    (_, index) => (values[2 * index] ?? 0) + (values[2 * index + 1] ?? 0),
  );
}

function squares(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value * value, 0);
}

/** What is left when the polynomial of low degree that fits best is taken away; its mean is 0. */
function withoutTrend(values: readonly number[]): number[] {
  const left = [...values];
  const basis: number[][] = [];
  for (let degree = 0; degree <= TREND_DEGREE; degree++) {
    const power = left.map((_, index) => ((2 * index + 1) / values.length - 1) ** degree);
    for (const other of basis) takeAway(power, other);
    basis.push(power);
    takeAway(left, power);
  }
  return left;
}

/** Takes from values their part along others. */
function takeAway(values: number[], other: readonly number[]): void {
  const along = values.reduce((sum, value, index) => sum + value * (other[index] ?? 0), 0) / squares(other);
  for (const [index, value] of other.entries()) values[index] = (values[index] ?? 0) - along * value;
}
