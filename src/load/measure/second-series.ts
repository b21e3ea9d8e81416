import type { LoadExchange } from "../../http/load-client/index.ts";
import type { Observation } from "../../judging/index.ts";
import { type Heat, HeatGrid, Histogram, type StoredHistogram } from "../../metrics/index.ts";
import type { LoadSecond, SecondQuantiles } from "../../record/index.ts";
import { ttftUs } from "./ttft.ts";

export interface Counts {
  offered: number;
  sent: number;
  admitted: number;
  denied: number;
  failed: number;
  invalid: number;
  dropped: number;
}

export const noCounts = (): Counts => ({
  offered: 0,
  sent: 0,
  admitted: 0,
  denied: 0,
  failed: 0,
  invalid: 0,
  dropped: 0,
});

/** Latencies of a second: E2E latency of each mode, and TTFT. */
const SECOND_FIGURES = ["streaming", "nonStreaming", "ttft"] as const;
type SecondFigure = (typeof SECOND_FIGURES)[number];
export type ByFigure<Value> = Record<SecondFigure, Value>;

interface Second extends Counts {
  /** Maximum in flight at a send within this second. */
  peak: number;
  quantilesMs: ByFigure<SecondQuantiles>;
  /** Whole histograms, if they are to be merged with others. */
  histograms: ByFigure<readonly StoredHistogram[]>;
}

export const mapFigures = <Value>(value: (figure: SecondFigure) => Value): ByFigure<Value> => ({
  streaming: value("streaming"),
  nonStreaming: value("nonStreaming"),
  ttft: value("ttft"),
});

/**
 * How the per-second maximum in flight is known for merged parts: `shared` was counted by one gauge over all of them; `separate`
 * by each part for itself, so that their sum is the lowest known upper bound.
 */
export type InFlightPeaks = "shared" | "separate";

/** What a worker reports. */
export interface StoredSeries {
  readonly seconds: readonly (readonly [index: number, second: Second])[];
  readonly response: Heat | undefined;
  readonly ttft: Heat | undefined;
}

/** A request is counted slightly after its end, when its bytes have been read. */
const LATE_US = 250_000;

/** Counts and latencies of a phase per second. */
export class SecondSeries {
  readonly #seconds = new Map<number, Second>();
  readonly #running = mapFigures(() => new Histogram());
  /** Index of the second that `#running` counts. */
  #runningSecond = -1;
  readonly #heat = { response: new HeatGrid(), ttft: new HeatGrid() };
  readonly #keep: boolean;
  /** Seconds that have changed since they were last reported; only if whole histograms are kept. */
  readonly #changed = new Set<number>();
  /** Quantiles of merged parts, cached: decoding them is expensive, and the live display reads them every second. */
  readonly #joined = new WeakMap<readonly StoredHistogram[], SecondQuantiles>();
  #startUs: number;

  /** @param keep whole histograms of each second, to be merged with others. */
  constructor(startUs: number, keep: boolean) {
    this.#startUs = startUs;
    this.#keep = keep;
  }

  get startUs(): number {
    return this.#startUs;
  }

  /** Moves the start, before anything is counted. */
  beginAt(startUs: number): void {
    this.#startUs = startUs;
  }

  /** @param by −1 takes back what was counted at that time. */
  count(what: keyof Counts, atUs: number, by: 1 | -1 = 1): void {
    this.#second(atUs)[what] += by;
  }

  /** @param inFlight requests in flight at that time, including this one. */
  sent(sentUs: number, inFlight: number): void {
    const second = this.#second(sentUs);
    second.sent++;
    if (inFlight > second.peak) second.peak = inFlight;
  }

  /** Latencies of an admitted request, after its end was counted. */
  admitted(reply: LoadExchange | Observation, stream: boolean): void {
    const { dueUs, sentUs, endUs } = reply;
    this.#running[stream ? "streaming" : "nonStreaming"].record(endUs - dueUs);
    this.#heat.response.record(this.#indexOf(endUs), endUs - dueUs);
    const ttft = ttftUs(reply);
    if (ttft === undefined) return;
    this.#running.ttft.record(ttft);
    this.#heat.ttft.record(this.#indexOf(sentUs + ttft), ttft);
  }

  /** Latencies of the current second, as whole histograms. */
  get running(): Readonly<ByFigure<Histogram>> {
    return this.#running;
  }

  #indexOf(atUs: number): number {
    return Math.max(0, Math.floor((atUs - this.#startUs) / 1_000_000));
  }

  #second(atUs: number): Second {
    const index = this.#indexOf(atUs);
    if (index > this.#runningSecond) this.#turn(index);
    if (this.#keep) this.#changed.add(index);
    return this.#at(index);
  }

  #at(index: number): Second {
    const known = this.#seconds.get(index);
    if (known !== undefined) return known;
    const quantilesMs = mapFigures(() => null);
    const made: Second = { ...noCounts(), peak: 0, quantilesMs, histograms: mapFigures(() => []) };
    this.#seconds.set(index, made);
    return made;
  }

  /** Begins another second; requests count in the second in which they end. */
  #turn(index: number): void {
    this.#settle();
    for (const figure of SECOND_FIGURES) this.#running[figure].reset();
    this.#runningSecond = index;
  }

  /** Computes the quantiles of the current second without ending it: a running load is also read to judge it so far. */
  #settle(): void {
    const running = this.#running;
    const closed = this.#seconds.get(this.#runningSecond);
    if (closed === undefined) return;
    closed.quantilesMs = mapFigures((figure) => quantilesOf(running[figure]));
    if (!this.#keep) return;
    closed.histograms = mapFigures((figure) => (running[figure].count === 0 ? [] : [running[figure].store()]));
    this.#changed.add(this.#runningSecond);
  }

  /**
   * @param offsetS seconds from the start of the run to that of the phase.
   * @returns the seconds in which something happened or was in flight.
   */
  close(offsetS: number): LoadSecond[] {
    this.#settle();
    return this.#rows(offsetS, { from: 0, to: Math.max(-1, ...this.#seconds.keys()) });
  }

  /**
   * The finished seconds, for live display. Requests that were sent in them but have not ended are missing: a second may change
   * until the last request sent in it has ended.
   *
   * @param from index of the first one to return.
   */
  over(offsetS: number, { atUs, from }: { readonly atUs: number; readonly from: number }): LoadSecond[] {
    return this.#rows(offsetS, { from, to: this.#closeBefore(atUs) - 1 });
  }

  /** The seconds that have changed since the last call, with their current values. */
  changes(atUs: number): StoredSeries["seconds"] {
    this.#closeBefore(atUs);
    const changed = [...this.#changed].map((index) => [index, { ...this.#at(index) }] as const);
    this.#changed.clear();
    return changed;
  }

  /** Closes the finished seconds. @returns index of the first unfinished one. */
  #closeBefore(atUs: number): number {
    const current = this.#indexOf(atUs - LATE_US);
    if (current > this.#runningSecond) this.#turn(current);
    return current;
  }

  #rows(offsetS: number, { from, to }: { readonly from: number; readonly to: number }): LoadSecond[] {
    const series: LoadSecond[] = [];
    // Requests in flight at the start of the second.
    let carried = 0;
    for (let index = 0; index <= to; index++) {
      const second = this.#seconds.get(index);
      if (index >= from && (second !== undefined || carried > 0))
        series.push(this.#row(second, offsetS + index, carried));
      if (second !== undefined)
        carried += second.sent - second.admitted - second.denied - second.failed - second.invalid;
    }
    return series;
  }

  #row(second: Second | undefined, atS: number, carried: number): LoadSecond {
    const nothing = { streaming: null, nonStreaming: null };
    if (second === undefined) return { atS, ...noCounts(), inFlight: carried, responseByModeMs: nothing, ttftMs: null };
    const { peak, quantilesMs, histograms, ...counts } = second;
    const { ttft, ...responseByModeMs } = mapFigures((figure) =>
      histograms[figure].length === 0 ? quantilesMs[figure] : this.#quantilesOf(histograms[figure]),
    );
    return { atS, ...counts, inFlight: Math.max(peak, carried), responseByModeMs, ttftMs: ttft };
  }

  #quantilesOf(parts: readonly StoredHistogram[]): SecondQuantiles {
    const known = this.#joined.get(parts);
    if (known !== undefined) return known;
    const quantiles = quantilesOf(Histogram.joined(parts));
    this.#joined.set(parts, quantiles);
    return quantiles;
  }

  get heat(): { readonly response: Heat | undefined; readonly ttft: Heat | undefined } {
    return { response: this.#heat.response.close(), ttft: this.#heat.ttft.close() };
  }

  store(): StoredSeries {
    this.#settle();
    return { seconds: [...this.#seconds], ...this.heat };
  }

  merge(other: StoredSeries, peaks: InFlightPeaks): void {
    for (const [index, second] of other.seconds) {
      const own = this.#at(index);
      for (const name of Object.keys(noCounts()) as (keyof Counts)[]) own[name] += second[name];
      own.peak = peaks === "shared" ? Math.max(own.peak, second.peak) : own.peak + second.peak;
      for (const figure of SECOND_FIGURES)
        if (second.histograms[figure].length > 0)
          own.histograms[figure] = [...own.histograms[figure], ...second.histograms[figure]];
    }
    if (other.response !== undefined) this.#heat.response.merge(other.response);
    if (other.ttft !== undefined) this.#heat.ttft.merge(other.ttft);
  }
}

export function quantilesOf(histogram: Histogram): SecondQuantiles {
  if (histogram.count === 0) return null;
  const at = (share: number) => histogram.quantileUs(share) / 1_000;
  return { p50: at(0.5), p95: at(0.95), p99: at(0.99) };
}
