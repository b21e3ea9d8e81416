import { wilson } from "../../core/index.ts";
import type { Dialect } from "../../dialects/index.ts";
import type { LoadExchange } from "../../http/load-client/index.ts";
import type { Observation, Outcome } from "../../judging/index.ts";
import {
  CountBlocks,
  Histogram,
  type HistogramGrowth,
  type StoredCounts,
  type StoredHistogram,
  type TaggedHistogram,
} from "../../metrics/index.ts";
import type { JudgedPhase, LoadClass, LoadSecond } from "../../record/index.ts";
import { type ClassGrowth, ClassTally, type Part, type QuantileEstimate, type StoredClass } from "./class-tally.ts";
import { GoodputTally, type RequestObjective, type StoredGoodput } from "./goodput.ts";
import { type Counts, type InFlightPeaks, noCounts, SecondSeries, type StoredSeries } from "./second-series.ts";
import { steadyOf } from "./steady.ts";
import { type StoredToolCalls, ToolCallTally } from "./tool-call-tally.ts";
import { type StoredTurn, TurnTallies } from "./turn-tally.ts";

/** What a worker reports: whole histograms, so that quantiles are never averaged. */
export interface StoredTally {
  readonly total: Counts;
  readonly classes: readonly StoredClass[];
  readonly lag: StoredHistogram;
  readonly series: StoredSeries;
  readonly counts: StoredCounts<Counted>;
  readonly goodput?: StoredGoodput | undefined;
  readonly turns?: readonly StoredTurn[] | undefined;
  readonly toolCalls?: StoredToolCalls | undefined;
}

/** What has been counted since the last read: everything that the live display shows. */
export interface TallyGrowth {
  readonly total: Counts;
  readonly lag: HistogramGrowth | undefined;
  readonly classes: readonly ClassGrowth[];
  readonly seconds: StoredSeries["seconds"];
}

interface TallyOptions {
  readonly keep?: boolean;
  readonly objectives?: readonly RequestObjective[] | undefined;
}

/** Every request that was sent ends as one of these. */
const ENDINGS = ["admitted", "denied", "failed", "invalid"] as const;
const RATES = ["offered", "sent", ...ENDINGS] as const;
type RateName = (typeof RATES)[number];
/** What is counted over time; `good`: it met all objectives. */
type Counted = keyof Counts | "good";

/** Counts a phase. Its size depends on the number of classes and seconds, not on the number of requests. */
export class Tally {
  readonly total: Counts = noCounts();
  readonly lag = new Histogram();
  readonly #classes = new Map<string, ClassTally>();
  readonly #series: SecondSeries;
  readonly #counts = new CountBlocks<Counted>();
  readonly #goodput: GoodputTally | undefined;
  readonly #turns = new TurnTallies();
  readonly #toolCalls = new ToolCallTally();

  /**
   * @param startUs start of the phase, on the clock of `nowUs`.
   * @param keep what is needed to merge the seconds of this tally with those of others.
   * @param objectives what requests must meet to count as goodput.
   */
  constructor(startUs: number, { keep = false, objectives }: TallyOptions = {}) {
    this.#series = new SecondSeries(startUs, keep);
    this.#goodput = objectives === undefined ? undefined : new GoodputTally(objectives);
  }

  /** Moves the start, before anything is counted. */
  beginAt(startUs: number): void {
    this.#series.beginAt(startUs);
  }

  get startUs(): number {
    return this.#series.startUs;
  }

  offered(dueUs: number): void {
    this.#add("offered", dueUs);
  }

  dropped(dueUs: number): void {
    this.#add("dropped", dueUs);
  }

  /** Takes back an arrival whose request Gauntlet itself aborted: it has no outcome. */
  withdrawn(dueUs: number): void {
    this.#add("offered", dueUs, -1);
  }

  #add(what: keyof Counts, atUs: number, by: 1 | -1 = 1): void {
    this.total[what] += by;
    this.#series.count(what, atUs, by);
    this.#counts.count(what, atUs - this.startUs, by);
  }

  /** @param inFlight requests in flight when it was sent, including itself. */
  sent(dueUs: number, sentUs: number, inFlight: number): void {
    this.total.sent++;
    this.lag.record(sentUs - dueUs);
    this.#series.sent(sentUs, inFlight);
    this.#counts.count("sent", sentUs - this.startUs);
  }

  ended(exchange: LoadExchange, outcome: Outcome): void {
    const { prepared, endUs } = exchange;
    this.#class(prepared.dialect, prepared.stream, outcome).ended(exchange);
    this.#count(outcome, endUs);
    if (this.#goodput?.ended(exchange, outcome)) this.#counts.count("good", endUs - this.startUs);
    if (prepared.turn !== undefined) this.#turns.ended(prepared.turn, exchange, outcome);
    if (outcome !== "admitted") return;
    this.#series.admitted(exchange, prepared.stream);
    if (exchange.toolCalls !== undefined) this.#toolCalls.add(exchange.toolCalls, endUs - this.startUs);
  }

  /** Requests that met all objectives; `undefined` if there are none. */
  goodput(durationS: number): JudgedPhase["goodput"] {
    // A request in flight may still meet its objectives.
    const decided = [...ENDINGS, "dropped"] as const;
    const of = decided.reduce((sum, name) => sum + this.total[name], 0);
    const closed = this.#goodput?.close(durationS, of);
    if (closed === undefined) return undefined;
    const share = closed.share === null ? null : this.#shareInterval(closed.share, "good", decided, durationS);
    return { ...closed, intervals: { requestsPerS: this.#counts.rateInterval("good", durationS), share } };
  }

  /** Requests by the turn of their session. */
  turns(): NonNullable<JudgedPhase["sessions"]>["turns"] {
    return this.#turns.close();
  }

  /** Tool calls by what a client finds when it reads them; `undefined` if no admitted request had tools. */
  toolCalls(durationS: number): JudgedPhase["toolCalls"] {
    return this.#toolCalls.close(durationS);
  }

  /** Like `ended`, for a request that another engine sent. */
  observed(one: Observation): void {
    const { dialect, stream, outcome, endUs } = one;
    this.#class(dialect, stream, outcome).observed(one);
    this.#count(outcome, endUs);
    if (outcome === "admitted") this.#series.admitted(one, stream);
  }

  #count(outcome: Outcome, endUs: number): void {
    this.#add(outcome === "unfinished" ? "failed" : outcome, endUs);
  }

  /** Output tokens of all responses. */
  get outputTokens(): number {
    return [...this.#classes.values()].reduce((sum, { outputTokens }) => sum + outputTokens, 0);
  }

  /** Latencies of the current second, for progress. */
  get running(): SecondSeries["running"] {
    return this.#series.running;
  }

  /** The finished seconds from an index on; see `SecondSeries.over`. @param offsetS see `close`. */
  over(offsetS: number, range: { readonly atUs: number; readonly from: number }): LoadSecond[] {
    return this.#series.over(offsetS, range);
  }

  /** Seconds that have changed since the last call; see `SecondSeries.changes`. */
  changes(atUs: number): StoredSeries["seconds"] {
    return this.#series.changes(atUs);
  }

  /** Counts of each class so far. */
  get classes(): Iterable<ClassTally> {
    return this.#classes.values();
  }

  /** How precisely a quantile of the admitted requests is known, for each kind that has a value. */
  known(...[figure, name]: Parameters<ClassTally["known"]>): QuantileEstimate[] {
    const admitted = [...this.#classes.values()].filter(({ outcome }) => outcome === "admitted");
    return admitted.flatMap((tally) => tally.known(figure, name) ?? []);
  }

  #class(dialect: Dialect, stream: boolean, outcome: Outcome): ClassTally {
    const name = `${dialect}.${stream ? "streaming" : "non-streaming"}.${outcome}`;
    const known = this.#classes.get(name);
    if (known !== undefined) return known;
    const made = new ClassTally({ dialect, stream, outcome }, this.startUs);
    this.#classes.set(name, made);
    return made;
  }

  /** @param offsetS seconds from the start of the run to that of the phase. */
  close(offsetS: number): {
    readonly classes: LoadClass[];
    readonly series: LoadSecond[];
    readonly steady: NonNullable<JudgedPhase["steady"]>;
    readonly heat: JudgedPhase["heat"];
  } {
    const { response, ttft } = this.#series.heat;
    const series = this.#series.close(offsetS);
    const steady = steadyOf(series, offsetS);
    const part = partOf(steady, offsetS);
    return {
      classes: [...this.#classes.values()].map((tally) => tally.close(part)),
      series,
      steady,
      // First tokens exist without response times only in a phase that was cut short.
      heat: response && { response, ...(ttft === undefined ? {} : { ttft }) },
    };
  }

  /** @returns the rates, per second, and the shares of a phase, with their intervals; no shares if nothing was sent. */
  ratesAndShares(durationS: number): Pick<JudgedPhase, "rates" | "shares"> {
    const rate = (name: RateName) => (durationS <= 0 ? 0 : this.total[name] / durationS);
    const of = ENDINGS.reduce((sum, name) => sum + this.total[name], 0);
    const share = (name: (typeof ENDINGS)[number]) => this.total[name] / of;
    const shareInterval = (name: (typeof ENDINGS)[number]) =>
      this.#shareInterval(share(name), name, ENDINGS, durationS);
    const rates = {
      ...forEach(RATES, rate),
      intervals: forEach(RATES, (name) => this.#counts.rateInterval(name, durationS)),
    };
    if (of === 0) return { rates };
    return { rates, shares: { ...forEach(ENDINGS, share), intervals: forEach(ENDINGS, shareInterval) } };
  }

  /** 95 % interval of a part's share of all. */
  #shareInterval(share: number, part: Counted, all: readonly Counted[], durationS: number): [number, number] {
    const effectiveCount = this.#counts.effectiveCount(part, all, durationS);
    const { low, high } = wilson({ count: share * effectiveCount, of: effectiveCount }, 0.95);
    return [low, high];
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
      counts: this.#counts.store(),
      goodput: this.#goodput?.store(),
      turns: this.#turns.store(),
      toolCalls: this.#toolCalls.store(),
    };
  }

  /** Maximum in flight of each second. */
  inFlightPerSecond(): number[] {
    return this.#series.close(0).map(({ inFlight }) => inFlight);
  }

  /** Adds what another worker has counted since its last report. */
  grow({ total, lag, classes, seconds }: TallyGrowth): void {
    for (const name of Object.keys(this.total) as (keyof Counts)[]) this.total[name] += total[name];
    if (lag !== undefined) this.lag.grow(lag);
    for (const growth of classes) this.#class(growth.dialect, growth.stream, growth.outcome).grow(growth);
    this.#series.merge({ seconds, response: undefined, ttft: undefined }, "shared");
  }

  merge(other: StoredTally, peaks: InFlightPeaks): void {
    for (const name of Object.keys(this.total) as (keyof Counts)[]) this.total[name] += other.total[name];
    this.lag.merge(Histogram.restore(other.lag));
    for (const stored of other.classes) this.#class(stored.dialect, stored.stream, stored.outcome).merge(stored);
    this.#series.merge(other.series, peaks);
    this.#turns.merge(other.turns ?? []);
    if (other.toolCalls !== undefined) this.#toolCalls.merge(other.toolCalls);
    this.#counts.merge(other.counts);
    if (other.goodput !== undefined) this.#goodput?.merge(other.goodput);
  }
}

/** The steady part of a phase, if that is not all of it. */
function partOf({ fromS, toS }: NonNullable<JudgedPhase["steady"]>, offsetS: number): Part | undefined {
  if (fromS === null || toS === null || fromS === offsetS) return undefined;
  return { fromUs: (fromS - offsetS) * 1_000_000, toUs: (toS - offsetS) * 1_000_000 };
}

function forEach<Name extends string, Value>(
  names: readonly Name[],
  value: (name: Name) => Value,
): Record<Name, Value> {
  return Object.fromEntries(names.map((name) => [name, value(name)])) as Record<Name, Value>;
}
