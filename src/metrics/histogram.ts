import {
  build,
  decodeFromCompressedBase64,
  encodeIntoCompressedBase64,
  type Histogram as Hdr,
  JsHistogram,
} from "hdr-histogram-js";

/** Quantiles of one histogram, milliseconds. */
export interface Quantiles {
  readonly p50: number;
  readonly p90: number;
  readonly p95: number;
  readonly p99: number;
  readonly p999: number;
  readonly max: number;
}

/** Transfer format between threads. */
export interface StoredHistogram {
  readonly encoded: string;
  /** Exact, microseconds. */
  readonly maxUs: number;
}

/** Growth of a histogram since it was last read, for another thread of this program. */
export interface HistogramGrowth {
  /** Index of a bucket, how many values were added to it, index, … */
  readonly buckets: readonly number[];
  /** The largest of all values, exact, microseconds. */
  readonly maxUs: number;
}

/** How much of a histogram was already read. Starts empty. */
export class ReadCounts {
  total = 0;
  byBucket = new Uint32Array(0);
}

/** A minute; longer values widen the histogram automatically. */
const EXPECTED_MAX_US = 60_000_000;

/** A year: a longer Retry-After wait is shown as one. */
const MAX_US = 365 * 24 * 3_600 * 1_000_000;

/**
 * Counts durations in whole microseconds with three significant digits: the error of any quantile is at most 0.1 %,
 * and the size does not depend on how many values it holds.
 */
export class Histogram {
  readonly #hdr: Hdr;

  constructor(hdr: Hdr = emptyHdr()) {
    this.#hdr = hdr;
  }

  /** @param us duration, microseconds; fractions are rounded, negative values count as 0, more than a year as a year. */
  record(us: number, count = 1): void {
    // Fractions would stay in the maximum, which would then disagree with the counts; infinite values never fit.
    this.#hdr.recordValueWithCount(us > 0 ? Math.round(Math.min(us, MAX_US)) : 0, count);
  }

  get count(): number {
    return this.#hdr.totalCount;
  }

  /** The largest value, microseconds; 0 if empty. */
  get maxUs(): number {
    return this.#hdr.maxValue;
  }

  /** Sum of all values, microseconds, to their accuracy of 0.1 %. */
  get sumUs(): number {
    const hdr = this.#counts();
    let left = hdr.totalCount;
    let sum = 0;
    for (let index = 0; left > 0 && index < hdr.countsArrayLength; index++) {
      const count = hdr.getCountAtIndex(index);
      if (count === 0) continue;
      left -= count;
      sum += count * hdr.medianEquivalentValue(hdr.valueFromIndex(index));
    }
    return sum;
  }

  /** @returns for each bound, microseconds ascending, the number of values up to it. */
  countsUpTo(boundsUs: readonly number[]): number[] {
    const hdr = this.#counts();
    let index = 0;
    let seen = 0;
    return boundsUs.map((boundUs) => {
      const end = Math.min(hdr.countsArrayIndex(boundUs) + 1, hdr.countsArrayLength);
      for (; index < end && seen < hdr.totalCount; index++) seen += hdr.getCountAtIndex(index);
      return seen;
    });
  }

  #counts(): JsHistogram {
    if (!(this.#hdr instanceof JsHistogram)) throw new TypeError("no JsHistogram");
    return this.#hdr;
  }

  /** Adds the other's counts; exact, because both have the same buckets. */
  merge(other: Histogram): void {
    this.#hdr.add(other.#hdr);
  }

  /** @param share between 0 and 1. @returns microseconds; 0 if empty. */
  quantileUs(share: number): number {
    return this.#hdr.getValueAtPercentile(share * 100);
  }

  /** @returns `null` if nothing was recorded: a quantile of nothing is not zero. */
  quantilesMs(): Quantiles | null {
    if (this.count === 0) return null;
    const at = (share: number) => Math.min(this.quantileUs(share), this.maxUs) / 1_000;
    const [p50, p90, p95, p99, p999] = [at(0.5), at(0.9), at(0.95), at(0.99), at(0.999)];
    return { p50, p90, p95, p99, p999, max: this.maxUs / 1_000 };
  }

  reset(): void {
    this.#hdr.reset();
  }

  /** The compressed form that HdrHistogram tools of every language read. */
  encode(): string {
    return encodeIntoCompressedBase64(this.#hdr);
  }

  static decode(text: string): Histogram {
    return new Histogram(decodeFromCompressedBase64(text, 32));
  }

  /** For another thread: the compressed form, and the exact maximum, which that form rounds to its bucket. */
  store(): StoredHistogram {
    return { encoded: this.encode(), maxUs: this.#hdr.maxValue };
  }

  /** All values of several stored histograms. */
  static joined(parts: readonly StoredHistogram[]): Histogram {
    const all = new Histogram();
    for (const part of parts) all.merge(Histogram.restore(part));
    return all;
  }

  static restore({ encoded, maxUs }: StoredHistogram): Histogram {
    const histogram = Histogram.decode(encoded);
    (histogram.hdr as { maxValue: number }).maxValue = maxUs;
    return histogram;
  }

  /**
   * Counts added since the last read. Far cheaper than compressing all counts: it is read while load is sent.
   *
   * @param read is updated. @returns `undefined` if nothing was counted.
   */
  growth(read: ReadCounts): HistogramGrowth | undefined {
    const hdr = this.#counts();
    let left = hdr.totalCount - read.total;
    if (left === 0) return undefined;
    if (read.byBucket.length < hdr.countsArrayLength) {
      const wider = new Uint32Array(hdr.countsArrayLength);
      wider.set(read.byBucket);
      read.byBucket = wider;
    }
    const buckets: number[] = [];
    for (let index = 0; left > 0 && index < hdr.countsArrayLength; index++) {
      const count = hdr.getCountAtIndex(index);
      const grown = count - (read.byBucket[index] ?? 0);
      if (grown === 0) continue;
      read.byBucket[index] = count;
      left -= grown;
      buckets.push(index, grown);
    }
    read.total = hdr.totalCount;
    return { buckets, maxUs: hdr.maxValue };
  }

  /** Adds the counts of another instance; exact, because both have the same buckets. */
  grow({ buckets, maxUs }: HistogramGrowth): void {
    const hdr = this.#counts();
    const max = Math.max(hdr.maxValue, maxUs);
    for (let at = 0; at < buckets.length; at += 2)
      hdr.recordValueWithCount(hdr.valueFromIndex(buckets[at] ?? 0), buckets[at + 1] ?? 0);
    hdr.maxValue = max;
  }

  /** The library's own object, for its log writer. */
  get hdr(): Hdr {
    return this.#hdr;
  }
}

function emptyHdr(): Hdr {
  return build({
    bitBucketSize: 32,
    autoResize: true,
    lowestDiscernibleValue: 1,
    highestTrackableValue: EXPECTED_MAX_US,
    numberOfSignificantValueDigits: 3,
  });
}

/** For figures of the generator itself, whose quantiles are never absent. */
export const NO_QUANTILES: Quantiles = { p50: 0, p90: 0, p95: 0, p99: 0, p999: 0, max: 0 };
