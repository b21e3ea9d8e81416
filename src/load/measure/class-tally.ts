import type { Dialect } from "../../dialects/index.ts";
import type { LoadExchange } from "../../http/load-client/index.ts";
import type { Observation, Outcome } from "../../judging/index.ts";
import {
  BlockCounts,
  Histogram,
  type HistogramGrowth,
  type LatencyFigure,
  latencyFields,
  quantileIntervals,
  type StoredBlocks,
  type StoredHistogram,
} from "../../metrics/index.ts";
import type { LoadClass } from "../../record/index.ts";
import { ttftUs } from "./ttft.ts";

type QuantileName = keyof NonNullable<NonNullable<LoadClass["responseMs"]>["intervals"]>;

/** A quantile for one kind of request, milliseconds. */
export interface QuantileEstimate {
  readonly kind: string;
  readonly count: number;
  readonly ms: number;
  /** Ends of its interval, and half of its width as a share of the value; absent if the sample does not support one. */
  readonly low?: number;
  readonly high?: number;
  readonly share?: number;
}

/** What a worker reports about a class: whole histograms, so that quantiles are never averaged. */
export interface StoredClass {
  readonly dialect: Dialect;
  readonly stream: boolean;
  readonly outcome: Outcome;
  readonly count: number;
  readonly outputTokens: number;
  readonly events: number;
  readonly reads: number;
  readonly figures: Readonly<Record<string, StoredHistogram>>;
  /** The same values by time, for the intervals. */
  readonly blocks: Readonly<Record<string, StoredBlocks>>;
}

/** What has been counted since the last read. */
export interface ClassGrowth extends Pick<StoredClass, "dialect" | "stream" | "outcome" | "count" | "outputTokens"> {
  readonly figures: readonly (readonly [figure: string, growth: HistogramGrowth])[];
}

/** Part of a phase, µs from its start. */
export interface Part {
  readonly fromUs: number;
  readonly toUs: number;
}

/** One dialect, mode and outcome: histograms are created on demand and never mixed with those of another class. */
export class ClassTally {
  readonly dialect: Dialect;
  readonly stream: boolean;
  readonly outcome: Outcome;
  #count = 0;
  #outputTokens = 0;
  #events = 0;
  #reads = 0;
  readonly #figures = new Map<LatencyFigure, Histogram>();
  readonly #blocks = new Map<LatencyFigure, BlockCounts>();
  readonly #startUs: number;
  /**
   * Due time of the request being counted, from the start of the phase. By end time, the first blocks of a phase would contain
   * only fast requests, and the last ones only slow requests.
   */
  #atUs = 0;

  /** @param startUs start of the phase, on the clock of `nowUs`. */
  constructor({ dialect, stream, outcome }: Pick<LoadClass, "dialect" | "stream" | "outcome">, startUs: number) {
    this.dialect = dialect;
    this.stream = stream;
    this.outcome = outcome;
    this.#startUs = startUs;
  }

  ended(exchange: LoadExchange): void {
    const { dueUs, sentUs, endUs } = exchange;
    this.#count++;
    this.#atUs = dueUs - this.#startUs;
    this.#record("response", endUs - dueUs);
    this.#record("service", endUs - sentUs);
    if (exchange.connectUs > 0) this.#record("connect", exchange.connectUs);
    if (exchange.headUs > 0) this.#record("headers", exchange.headUs - sentUs);
    if (exchange.firstByteUs > 0) this.#record("firstByte", exchange.firstByteUs - sentUs);
    this.#outputTokens += exchange.outputTokens;
    if (this.stream) this.#streamed(exchange);
  }

  /** Counts a request that another engine measured. */
  observed(one: Observation): void {
    const { dueUs, sentUs, endUs, connectUs, headUs, tokens } = one;
    this.#count++;
    this.#atUs = dueUs - this.#startUs;
    this.#record("response", endUs - dueUs);
    this.#record("service", endUs - sentUs);
    this.#outputTokens += tokens ?? 0;
    if (connectUs !== undefined) this.#record("connect", connectUs);
    if (headUs !== undefined) this.#record("headers", headUs - sentUs);
    if (this.stream) this.#recordTtft(one);
  }

  #streamed(exchange: LoadExchange): void {
    const { sentUs, firstEventUs, firstTokenUs, firstTextUs, lastTokenUs, scanner, gapsUs, longestGapUs } = exchange;
    const { contentEvents = 0, textEvents = 0, streamedTokens } = scanner ?? {};
    if (firstEventUs > 0) this.#record("firstEvent", firstEventUs - sentUs);
    this.#recordTtft(exchange);
    if (firstTextUs > 0 && contentEvents > textEvents) this.#record("textTtft", firstTextUs - sentUs);
    for (let index = 0; index < gapsUs.length; index++) this.#record("eventGap", gapsUs[index] as number);
    if (exchange.earlierGaps !== undefined) this.#histogram("eventGap").merge(exchange.earlierGaps);
    if (gapsUs.length > 0 || exchange.earlierGaps !== undefined) this.#record("longestStall", longestGapUs);
    if (streamedTokens !== undefined && streamedTokens > 0) this.#tokenGaps(gapsUs, contentEvents / streamedTokens);
    const tokens = streamedTokens ?? contentEvents;
    if (tokens > 1 && firstTokenUs > 0) this.#record("perToken", (lastTokenUs - firstTokenUs) / (tokens - 1));
    this.#events += scanner?.events ?? 0;
    this.#reads += exchange.reads;
  }

  #recordTtft(reply: LoadExchange | Observation): void {
    const ttft = ttftUs(reply);
    if (ttft !== undefined) this.#record("ttft", ttft);
  }

  /**
   * Many providers send several tokens per event, so the gap before an event is divided among its tokens. The stream states only the total
   * number of tokens, so every event is assumed to hold the same number.
   */
  #tokenGaps(gapsUs: readonly number[], eventsPerToken: number): void {
    for (let index = 0; index < gapsUs.length; index++) this.#record("itl", (gapsUs[index] as number) * eventsPerToken);
  }

  #record(figure: LatencyFigure, us: number): void {
    this.#histogram(figure).record(us);
    this.#blocksOf(figure).record(us, this.#atUs);
  }

  #blocksOf(figure: LatencyFigure): BlockCounts {
    const known = this.#blocks.get(figure);
    if (known !== undefined) return known;
    const made = new BlockCounts();
    this.#blocks.set(figure, made);
    return made;
  }

  #histogram(figure: LatencyFigure): Histogram {
    const known = this.#figures.get(figure);
    if (known !== undefined) return known;
    const made = new Histogram();
    this.#figures.set(figure, made);
    return made;
  }

  get count(): number {
    return this.#count;
  }

  get outputTokens(): number {
    return this.#outputTokens;
  }

  /** @param steady the steady part of the phase, if that is not all of it. */
  close(steady: Part | undefined): LoadClass {
    return {
      dialect: this.dialect,
      stream: this.stream,
      outcome: this.outcome,
      count: this.#count,
      ...latencyFields((figure) => this.#quantiles(figure, steady)),
      eventsPerRead: this.#reads === 0 || this.#events === 0 ? null : this.#events / this.#reads,
      outputTokens: this.#outputTokens,
    };
  }

  #quantiles(figure: LatencyFigure, part: Part | undefined): LoadClass["responseMs"] {
    const histogram = this.#figures.get(figure);
    const quantiles = histogram?.quantilesMs() ?? null;
    if (histogram === undefined || quantiles === null) return null;
    const blocks = this.#blocksOf(figure);
    const whole = { ...quantiles, intervals: quantileIntervals(histogram, blocks) };
    if (part === undefined) return whole;
    const inPart = blocks.between(part.fromUs, part.toUs);
    const values = inPart.histogram();
    const steady = values.quantilesMs();
    return { ...whole, steady: steady && { ...steady, intervals: quantileIntervals(values, inPart) } };
  }

  /** How precisely a quantile is known so far; `undefined` if it has no value yet. */
  known(figure: LatencyFigure, name: QuantileName): QuantileEstimate | undefined {
    const quantiles = this.#quantiles(figure, undefined);
    if (quantiles === null) return undefined;
    const [low, high] = quantiles.intervals?.[name] ?? [];
    const ms = quantiles[name];
    const count = this.#figures.get(figure)?.count ?? 0;
    const kind = `${this.dialect}, ${this.stream ? "streaming" : "non-streaming"}`;
    if (low === undefined || high === undefined) return { kind, count, ms };
    return { kind, count, ms, low, high, share: high === low ? 0 : (high - low) / 2 / ms };
  }

  get figures(): ReadonlyMap<string, Histogram> {
    return this.#figures;
  }

  store(): StoredClass {
    return {
      dialect: this.dialect,
      stream: this.stream,
      outcome: this.outcome,
      count: this.#count,
      outputTokens: this.#outputTokens,
      events: this.#events,
      reads: this.#reads,
      figures: Object.fromEntries([...this.#figures].map(([name, histogram]) => [name, histogram.store()])),
      blocks: Object.fromEntries([...this.#blocks].map(([name, blocks]) => [name, blocks.store()])),
    };
  }

  /** Adds what another worker has counted since its last report; for live display, without the data for intervals. */
  grow({ count, outputTokens, figures }: ClassGrowth): void {
    this.#count += count;
    this.#outputTokens += outputTokens;
    for (const [figure, growth] of figures) this.#histogram(figure as LatencyFigure).grow(growth);
  }

  /** Adds another worker's counts for the same class. */
  merge(other: StoredClass): void {
    this.#count += other.count;
    this.#outputTokens += other.outputTokens;
    this.#events += other.events;
    this.#reads += other.reads;
    for (const [figure, stored] of Object.entries(other.figures))
      this.#histogram(figure as LatencyFigure).merge(Histogram.restore(stored));
    for (const [figure, stored] of Object.entries(other.blocks)) this.#blocksOf(figure as LatencyFigure).merge(stored);
  }
}
