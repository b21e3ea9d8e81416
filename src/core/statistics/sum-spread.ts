import { tQuantile } from "./student-t.ts";

/** How far the sum of a series may be from its expected value. */
export interface SumSpread {
  /** Variance of the sum, including the correlation of neighbours. */
  readonly variance: number;
  /**
   * Number of standard deviations, either way, that contain 95 % of sums: more than 1.96 if few blocks determine the variance.
   */
  readonly deviations: number;
}

/** With fewer blocks a variance says nothing. */
export const MIN_BLOCKS = 8;
/** Neighbouring blocks count as independent up to this correlation, in standard errors of independent blocks. */
const TOGETHER = 1;
/** Degree of the trend that is removed: a rise or fall over a run is not chance. */
const TREND_DEGREE = 3;

/**
 * Variance of the sum of a series, such as counts of equal blocks of time, by batch means: neighbours are merged until the
 * batches are independent of each other (after Law and Carson, 1979), and a smooth trend is removed first.
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

/** Number of standard deviations, either way, that contain 95 % of a normal distribution. */
export const NORMAL_DEVIATIONS = 1.96;

/** Number of events in a block of time, and number of those of one kind. */
export interface PartOfBlock {
  readonly count: number;
  readonly part: number;
}

/**
 * By what factor the share of a kind varies more than with the same number of independent events, estimated from neighbouring
 * blocks.
 *
 * @returns `undefined` if that cannot be estimated: fewer than 8 blocks, or all or none are of the kind.
 */
export function shareInflation(blocks: readonly PartOfBlock[]): number | undefined {
  const count = blocks.reduce((sum, block) => sum + block.count, 0);
  const share = blocks.reduce((sum, { part }) => sum + part, 0) / count;
  const spread = sumSpread(blocks.map((block) => block.part - share * block.count));
  if (spread === undefined || !(share > 0 && share < 1)) return undefined;
  return (spread.variance / (count * share * (1 - share))) * (spread.deviations / NORMAL_DEVIATIONS) ** 2;
}

/** Whether neighbours are on the same side more often than by chance. */
function isTogether(values: readonly number[]): boolean {
  let products = 0;
  for (let index = 1; index < values.length; index++) products += (values[index - 1] ?? 0) * (values[index] ?? 0);
  return products * Math.sqrt(values.length) > TOGETHER * squares(values);
}

/** Sums of neighbouring pairs; an odd last value is dropped. */
function inPairs(values: readonly number[]): number[] {
  return Array.from(
    { length: Math.floor(values.length / 2) },
    (_, index) => (values[2 * index] ?? 0) + (values[2 * index + 1] ?? 0),
  );
}

function squares(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value * value, 0);
}

/** The residuals of the best-fitting polynomial of low degree; their mean is 0. */
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

/** Subtracts the projection onto `other`. */
function takeAway(values: number[], other: readonly number[]): void {
  const along = values.reduce((sum, value, index) => sum + value * (other[index] ?? 0), 0) / squares(other);
  for (const [index, value] of other.entries()) values[index] = (values[index] ?? 0) - along * value;
}
