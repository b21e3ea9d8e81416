import { MIN_BLOCKS, NORMAL_DEVIATIONS, shareInflation, sumSpread } from "../core/index.ts";

type Ends = [low: number, high: number];

/** Initial width of a block, µs. */
const FIRST_WIDTH_US = 25_000;
/** Maximum number of blocks; then neighbours are merged. */
const MAX_BLOCKS = 128;
/** With fewer events, the variance between blocks is too uncertain: the interval assumes a Poisson distribution. */
const FEW = 10;

/** Transfer format for another thread or process. */
export interface StoredCounts<Name extends string> {
  readonly widthUs: number;
  readonly counts: Readonly<Partial<Record<Name, readonly number[]>>>;
}

/** Counts events of several kinds by time, in at most 128 blocks of equal width: shows how exact a rate or a share is. */
export class CountBlocks<Name extends string> {
  readonly #counts = new Map<Name, number[]>();
  #widthUs = FIRST_WIDTH_US;

  /** @param atUs from the start of the phase; negative counts as 0. @param by −1 takes back what was counted at that time. */
  count(name: Name, atUs: number, by: 1 | -1 = 1): void {
    this.#add(name, atUs, by);
  }

  #add(name: Name, atUs: number, count: number): void {
    while (atUs >= this.#widthUs * MAX_BLOCKS) this.#halve();
    const blocks = this.#blocksOf(name);
    const index = atUs > 0 ? Math.floor(atUs / this.#widthUs) : 0;
    blocks[index] = (blocks[index] ?? 0) + count;
  }

  #blocksOf(name: Name): number[] {
    const known = this.#counts.get(name);
    if (known !== undefined) return known;
    const made = new Array<number>(MAX_BLOCKS).fill(0);
    this.#counts.set(name, made);
    return made;
  }

  #halve(): void {
    this.#widthUs *= 2;
    for (const blocks of this.#counts.values())
      for (let index = 0; index < MAX_BLOCKS; index++)
        blocks[index] = 2 * index < MAX_BLOCKS ? (blocks[2 * index] ?? 0) + (blocks[2 * index + 1] ?? 0) : 0;
  }

  store(): StoredCounts<Name> {
    return { widthUs: this.#widthUs, counts: Object.fromEntries(this.#counts) as Record<Name, number[]> };
  }

  /** Adds the counts of another instance with the same start. */
  merge({ widthUs, counts }: StoredCounts<Name>): void {
    while (this.#widthUs < widthUs) this.#halve();
    for (const [name, blocks] of Object.entries(counts) as [Name, readonly number[]][])
      for (const [index, count] of blocks.entries()) if (count > 0) this.#add(name, index * widthUs, count);
  }

  #series(name: Name, durationS: number): number[] {
    return this.#blocksOf(name).slice(0, Math.ceil((durationS * 1_000_000) / this.#widthUs));
  }

  /** @returns ends of the 95 % interval of a rate, per second; `null` if the phase is too short. */
  rateInterval(name: Name, durationS: number): Ends | null {
    const series = this.#series(name, durationS);
    const count = series.reduce((sum, value) => sum + value, 0);
    if (durationS <= 0 || series.length < MIN_BLOCKS) return null;
    const { variance, deviations } = sumSpread(series) ?? { variance: count, deviations: NORMAL_DEVIATIONS };
    const chance = NORMAL_DEVIATIONS * Math.sqrt(count + NORMAL_DEVIATIONS ** 2 / 4);
    const [middle, half] =
      count < FEW ? [count + NORMAL_DEVIATIONS ** 2 / 2, chance] : [count, deviations * Math.sqrt(variance)];
    return [Math.max(0, middle - half) / durationS, (middle + half) / durationS];
  }

  /** Effective number of independent events for a share of them: fewer if neighbours in time correlate. */
  effectiveCount(part: Name, all: readonly Name[], durationS: number): number {
    const wholes = all.map((name) => this.#series(name, durationS));
    const blocks = this.#series(part, durationS).map((own, index) => ({
      count: wholes.reduce((sum, series) => sum + (series[index] ?? 0), 0),
      part: own,
    }));
    const of = blocks.reduce((sum, { count }) => sum + count, 0);
    return of / Math.max(1, shareInflation(blocks) ?? 1);
  }
}
