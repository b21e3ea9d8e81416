import type { Dialect } from "../dialects/index.ts";
import type { Observation, Outcome } from "../judging/index.ts";
import { Histogram, type StoredHistogram, type TaggedHistogram } from "../metrics/index.ts";
import type { JudgedPhase, LoadClass, LoadSecond } from "../record/index.ts";
import { ClassTally, type StoredClass } from "./class-tally.ts";
import { GoodputTally, type RequestObjective, type StoredGoodput } from "./goodput.ts";
import type { LoadExchange } from "./http/load-exchange.ts";
import { type Counts, noCounts, SecondSeries, type StoredSeries } from "./second-series.ts";

/** What a worker hands over: whole histograms, so that quantiles are never averaged. */
export interface StoredTally {
  readonly total: Counts;
  readonly classes: readonly StoredClass[];
  readonly lag: StoredHistogram;
  readonly series: StoredSeries;
  readonly goodput?: StoredGoodput | undefined;
}

interface TallyOptions {
  readonly keep?: boolean;
  readonly objectives?: readonly RequestObjective[] | undefined;
}

/** Counts a phase. Its size depends on the number of classes and seconds, not on the number of requests. */
export class Tally {
  readonly total: Counts = noCounts();
  readonly lag = new Histogram();
  readonly #classes = new Map<string, ClassTally>();
  readonly #series: SecondSeries;
  readonly #goodput: GoodputTally | undefined;

  /**
   * @param startUs beginning of the phase, on the clock of `nowUs`.
   * @param keep what is needed to merge the seconds of this tally with those of others.
   * @param objectives what requests must meet to count as goodput.
   */
  constructor(startUs: number, { keep = false, objectives }: TallyOptions = {}) {
    this.#series = new SecondSeries(startUs, keep);
    this.#goodput = objectives === undefined ? undefined : new GoodputTally(objectives);
  }

  /** Moves the beginning, before anything was counted. */
  beginAt(startUs: number): void {
    this.#series.beginAt(startUs);
  }

  get startUs(): number {
    return this.#series.startUs;
  }

  offered(dueUs: number): void {
    this.total.offered++;
    this.#series.count("offered", dueUs);
  }

  dropped(dueUs: number): void {
    this.total.dropped++;
    this.#series.count("dropped", dueUs);
  }

  /** @param inFlight requests in flight when it was sent, itself included. */
  sent(dueUs: number, sentUs: number, inFlight: number): void {
    this.total.sent++;
    this.lag.record(sentUs - dueUs);
    this.#series.sent(sentUs, inFlight);
  }

  ended(exchange: LoadExchange, outcome: Outcome): void {
    const { prepared, dueUs, sentUs, firstTokenUs, endUs } = exchange;
    this.#class(prepared.dialect, prepared.stream, outcome).ended(exchange);
    this.#count(outcome, endUs);
    this.#goodput?.ended(exchange, outcome);
    if (outcome === "admitted") this.#series.admitted(dueUs, sentUs, firstTokenUs, endUs);
  }

  /** Requests that met every objective; `undefined` where none is named. */
  goodput(durationS: number): JudgedPhase["goodput"] {
    return this.#goodput?.close(durationS, this.total.offered);
  }

  /** Like `ended`, for a request of another engine. */
  observed(one: Observation): void {
    const { dialect, stream, outcome, dueUs, sentUs, firstTokenUs = 0, endUs } = one;
    this.#class(dialect, stream, outcome).observed(one);
    this.#count(outcome, endUs);
    if (outcome === "admitted") this.#series.admitted(dueUs, sentUs, firstTokenUs, endUs);
  }

  #count(outcome: Outcome, endUs: number): void {
    const counted = outcome === "unfinished" ? "failed" : outcome;
    this.total[counted]++;
    this.#series.count(counted, endUs);
  }

  /** Response times of the running second, for progress. */
  get running(): Histogram {
    return this.#series.running;
  }

  #class(dialect: Dialect, stream: boolean, outcome: Outcome): ClassTally {
    const name = `${dialect}.${stream ? "streaming" : "non-streaming"}.${outcome}`;
    const known = this.#classes.get(name);
    if (known !== undefined) return known;
    const made = new ClassTally(dialect, stream, outcome);
    this.#classes.set(name, made);
    return made;
  }

  /** @param offsetS seconds from the beginning of the run to that of the phase. */
  close(offsetS: number): {
    readonly classes: LoadClass[];
    readonly series: LoadSecond[];
    readonly heat: JudgedPhase["heat"];
  } {
    const { response, ttft } = this.#series.heat;
    return {
      classes: [...this.#classes.values()].map((tally) => tally.close()),
      series: this.#series.close(offsetS),
      // There is no first token without an end, but in a phase that was cut short.
      heat: response && { response, ...(ttft === undefined ? {} : { ttft }) },
    };
  }

  histograms(prefix: string, startMs: number, endMs: number): TaggedHistogram[] {
    return [...this.#classes].flatMap(([name, tally]) =>
      [...tally.figures].map(([figure, histogram]) => ({
        tag: `${prefix}.${name}.${figure}`,
        histogram,
        startMs,
        endMs,
      })),
    );
  }

  store(): StoredTally {
    return {
      total: { ...this.total },
      classes: [...this.#classes.values()].map((tally) => tally.store()),
      lag: this.lag.store(),
      series: this.#series.store(),
      goodput: this.#goodput?.store(),
    };
  }

  merge(other: StoredTally): void {
    for (const name of Object.keys(this.total) as (keyof Counts)[]) this.total[name] += other.total[name];
    this.lag.merge(Histogram.restore(other.lag));
    for (const stored of other.classes) this.#class(stored.dialect, stored.stream, stored.outcome).merge(stored);
    this.#series.merge(other.series);
    if (other.goodput !== undefined) this.#goodput?.merge(other.goodput);
  }
}
