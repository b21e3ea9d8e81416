import { type HistogramGrowth, ReadCounts } from "../../metrics/index.ts";
import type { ClassGrowth, ClassTally } from "./class-tally.ts";
import { type Counts, mapFigures, noCounts, type StoredSeries } from "./second-series.ts";
import type { Tally, TallyGrowth } from "./tally.ts";

type Seconds = StoredSeries["seconds"];
type Second = Seconds[number][1];

const COUNTS = Object.keys(noCounts()) as (keyof Counts)[];

/** What has already been read of a class. */
class ReadClass {
  count = 0;
  outputTokens = 0;
  readonly figures = new Map<string, ReadCounts>();
}

/**
 * Reads a tally repeatedly, each time only what was counted since the last read. The cost does not depend on how much that is.
 */
export class GrowthReader {
  readonly #tally: Tally;
  readonly #lag = new ReadCounts();
  readonly #classes = new Map<ClassTally, ReadClass>();
  readonly #seconds = new Map<number, Second>();
  #total: Counts = noCounts();

  constructor(tally: Tally) {
    this.#tally = tally;
  }

  /** @param atUs now, on the clock of the tally: earlier seconds are closed. */
  read(atUs: number): TallyGrowth {
    const { total, lag, classes } = this.#tally;
    const grown = difference(total, this.#total);
    this.#total = { ...total };
    return {
      total: grown,
      lag: lag.growth(this.#lag),
      classes: [...classes].flatMap((one) => this.#class(one) ?? []),
      seconds: this.#tally.changes(atUs).map(([index, second]) => [index, this.#second(index, second)] as const),
    };
  }

  #class(tally: ClassTally): ClassGrowth | undefined {
    const { dialect, stream, outcome, count, outputTokens } = tally;
    const read = this.#classes.get(tally) ?? new ReadClass();
    this.#classes.set(tally, read);
    const figures = [...tally.figures].flatMap(([name, histogram]): [string, HistogramGrowth][] => {
      const counts = read.figures.get(name) ?? new ReadCounts();
      read.figures.set(name, counts);
      const growth = histogram.growth(counts);
      return growth === undefined ? [] : [[name, growth]];
    });
    const growth = { count: count - read.count, outputTokens: outputTokens - read.outputTokens };
    if (figures.length === 0 && growth.count === 0) return undefined;
    read.count = count;
    read.outputTokens = outputTokens;
    return { dialect, stream, outcome, ...growth, figures };
  }

  /** Whole histograms of a second are available when it is closed, and do not change after that. */
  #second(index: number, now: Second): Second {
    const before = this.#seconds.get(index);
    this.#seconds.set(index, now);
    if (before === undefined) return now;
    return {
      ...now,
      ...difference(now, before),
      histograms: mapFigures((figure) => (before.histograms[figure].length === 0 ? now.histograms[figure] : [])),
    };
  }
}

function difference(now: Counts, before: Counts): Counts {
  return Object.fromEntries(COUNTS.map((name) => [name, now[name] - before[name]])) as unknown as Counts;
}
