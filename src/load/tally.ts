import { Histogram, type TaggedHistogram } from "../metrics/index.ts";
import type { LoadClass, LoadSecond } from "../record/index.ts";
import type { Dialect } from "../wire/index.ts";
import type { LoadExchange } from "./http/load-exchange.ts";
import type { LoadOutcome } from "./outcome.ts";

/** What is counted of an exchange: other engines know no more than this. */
export type Counted = Pick<
  LoadExchange,
  | "dueUs"
  | "sentUs"
  | "connectUs"
  | "headUs"
  | "firstByteUs"
  | "firstEventUs"
  | "firstTokenUs"
  | "lastTokenUs"
  | "endUs"
  | "gapsUs"
  | "longestGapUs"
  | "outputTokens"
  | "reads"
> & {
  readonly shot: Pick<LoadExchange["shot"], "dialect" | "stream">;
  readonly scanner?: { readonly events: number } | undefined;
};

const FIGURES = [
  "response",
  "service",
  "ttft",
  "gap",
  "connect",
  "headers",
  "firstByte",
  "firstEvent",
  "longestStall",
  "perToken",
] as const;
type Figure = (typeof FIGURES)[number];

/** One dialect, mode and outcome: its histograms are made when first needed and never mixed with another's. */
class ClassTally {
  readonly dialect: Dialect;
  readonly stream: boolean;
  readonly outcome: LoadOutcome;
  count = 0;
  outputTokens = 0;
  events = 0;
  reads = 0;
  readonly #figures = new Map<Figure, Histogram>();

  constructor(dialect: Dialect, stream: boolean, outcome: LoadOutcome) {
    this.dialect = dialect;
    this.stream = stream;
    this.outcome = outcome;
  }

  record(figure: Figure, us: number): void {
    this.histogram(figure).record(us);
  }

  histogram(figure: Figure): Histogram {
    const known = this.#figures.get(figure);
    if (known !== undefined) return known;
    const made = new Histogram();
    this.#figures.set(figure, made);
    return made;
  }

  close(): LoadClass {
    const ms = (figure: Figure) => this.#figures.get(figure)?.quantilesMs() ?? null;
    return {
      dialect: this.dialect,
      stream: this.stream,
      outcome: this.outcome,
      count: this.count,
      responseMs: ms("response"),
      serviceMs: ms("service"),
      ttftMs: ms("ttft"),
      gapMs: ms("gap"),
      connectMs: ms("connect"),
      headersMs: ms("headers"),
      firstByteMs: ms("firstByte"),
      firstEventMs: ms("firstEvent"),
      longestStallMs: ms("longestStall"),
      perTokenMs: ms("perToken"),
      eventsPerRead: this.reads === 0 || this.events === 0 ? null : this.events / this.reads,
      outputTokens: this.outputTokens,
    };
  }

  get figures(): ReadonlyMap<Figure, Histogram> {
    return this.#figures;
  }

  /** What another worker counted of the same class. */
  merge(other: StoredClass): void {
    this.count += other.count;
    this.outputTokens += other.outputTokens;
    this.events += other.events;
    this.reads += other.reads;
    for (const [figure, encoded] of Object.entries(other.figures))
      this.histogram(figure as Figure).merge(Histogram.decode(encoded));
  }

  store(): StoredClass {
    const { dialect, stream, outcome, count, outputTokens, events, reads } = this;
    const figures = Object.fromEntries([...this.#figures].map(([name, histogram]) => [name, histogram.encode()]));
    return { dialect, stream, outcome, count, outputTokens, events, reads, figures };
  }
}

interface StoredClass {
  readonly dialect: Dialect;
  readonly stream: boolean;
  readonly outcome: LoadOutcome;
  readonly count: number;
  readonly outputTokens: number;
  readonly events: number;
  readonly reads: number;
  readonly figures: Readonly<Record<string, string>>;
}

interface Counts {
  offered: number;
  sent: number;
  admitted: number;
  denied: number;
  failed: number;
  dropped: number;
}

type Second = Counts & { inFlight: number; responseMs: LoadSecond["responseMs"]; ttftMs: LoadSecond["ttftMs"] };

const noCounts = (): Counts => ({ offered: 0, sent: 0, admitted: 0, denied: 0, failed: 0, dropped: 0 });

/** What a worker hands over: whole histograms, so that quantiles are never averaged. */
export interface StoredTally {
  readonly total: Counts;
  readonly classes: readonly StoredClass[];
  readonly lag: string;
  readonly seconds: readonly (readonly [number, Second])[];
}

/** Counts a phase. Its size depends on the number of classes and seconds, not on the number of requests. */
export class Tally {
  readonly total: Counts = noCounts();
  readonly lag = new Histogram();
  readonly #classes = new Map<string, ClassTally>();
  readonly #seconds = new Map<number, Second>();
  readonly #interval = { response: new Histogram(), ttft: new Histogram(), second: -1 };
  #startUs: number;

  /** @param startUs beginning of the phase, on the clock of `nowUs`. */
  constructor(startUs: number) {
    this.#startUs = startUs;
  }

  /** Moves the beginning, before anything was counted. */
  beginAt(startUs: number): void {
    this.#startUs = startUs;
  }

  get startUs(): number {
    return this.#startUs;
  }

  offered(dueUs: number): void {
    this.total.offered++;
    this.#second(dueUs).offered++;
  }

  dropped(dueUs: number): void {
    this.total.dropped++;
    this.#second(dueUs).dropped++;
  }

  sent(dueUs: number, sentUs: number, inFlight: number): void {
    this.total.sent++;
    this.lag.record(sentUs - dueUs);
    const second = this.#second(sentUs);
    second.sent++;
    second.inFlight = inFlight;
  }

  ended(exchange: Counted, outcome: LoadOutcome): void {
    const { shot, dueUs, sentUs, endUs } = exchange;
    const tally = this.#class(shot.dialect, shot.stream, outcome);
    tally.count++;
    tally.record("response", endUs - dueUs);
    tally.record("service", endUs - sentUs);
    if (exchange.connectUs > 0) tally.record("connect", exchange.connectUs);
    if (exchange.headUs > 0) tally.record("headers", exchange.headUs - sentUs);
    if (exchange.firstByteUs > 0) tally.record("firstByte", exchange.firstByteUs - sentUs);
    if (shot.stream) this.#stream(exchange, tally);
    const second = this.#second(endUs);
    const counted = outcome === "unfinished" ? "failed" : outcome;
    this.total[counted]++;
    second[counted]++;
    if (outcome === "admitted") {
      this.#interval.response.record(endUs - dueUs);
      if (exchange.firstTokenUs > 0) this.#interval.ttft.record(exchange.firstTokenUs - sentUs);
    }
  }

  #stream(exchange: Counted, tally: ClassTally): void {
    const { sentUs, firstEventUs, firstTokenUs, lastTokenUs, scanner, gapsUs, longestGapUs } = exchange;
    if (firstEventUs > 0) tally.record("firstEvent", firstEventUs - sentUs);
    if (firstTokenUs > 0) tally.record("ttft", firstTokenUs - sentUs);
    // Made only where a gap was seen: an engine that sees none has no histogram of them.
    const gaps = gapsUs.length === 0 ? undefined : tally.histogram("gap");
    for (let index = 0; index < gapsUs.length; index++) gaps?.record(gapsUs[index] as number);
    if (gapsUs.length > 0) tally.record("longestStall", longestGapUs);
    const { outputTokens } = exchange;
    if (outputTokens > 1 && firstTokenUs > 0)
      tally.record("perToken", (lastTokenUs - firstTokenUs) / (outputTokens - 1));
    tally.outputTokens += outputTokens;
    tally.events += scanner?.events ?? 0;
    tally.reads += exchange.reads;
  }

  /** Gaps of a long stream that still runs. */
  gaps(exchange: LoadExchange, gapsUs: readonly number[]): void {
    const histogram = this.#class(exchange.shot.dialect, exchange.shot.stream, "admitted").histogram("gap");
    for (const gapUs of gapsUs) histogram.record(gapUs);
  }

  /** The running second, for progress. */
  get now(): { readonly p50Ms: number; readonly p99Ms: number } {
    const { response } = this.#interval;
    return { p50Ms: response.quantileUs(0.5) / 1_000, p99Ms: response.quantileUs(0.99) / 1_000 };
  }

  #class(dialect: Dialect, stream: boolean, outcome: LoadOutcome): ClassTally {
    const name = `${dialect}.${stream ? "stream" : "whole"}.${outcome}`;
    const known = this.#classes.get(name);
    if (known !== undefined) return known;
    const made = new ClassTally(dialect, stream, outcome);
    this.#classes.set(name, made);
    return made;
  }

  #second(atUs: number): Second {
    const index = Math.max(0, Math.floor((atUs - this.#startUs) / 1_000_000));
    if (index > this.#interval.second) this.#turn(index);
    const known = this.#seconds.get(index);
    if (known !== undefined) return known;
    const made = { ...noCounts(), inFlight: 0, responseMs: null, ttftMs: null };
    this.#seconds.set(index, made);
    return made;
  }

  /** Closes the quantiles of a second; what ends late counts in the second in which it ends. */
  #turn(index: number): void {
    const { response, ttft, second } = this.#interval;
    const closed = this.#seconds.get(second);
    if (closed !== undefined) {
      closed.responseMs = twoOf(response);
      closed.ttftMs = twoOf(ttft);
    }
    response.reset();
    ttft.reset();
    this.#interval.second = index;
  }

  /** @param offsetS seconds from the beginning of the run to that of the phase. */
  close(offsetS: number): { readonly classes: LoadClass[]; readonly series: LoadSecond[] } {
    this.#turn(this.#interval.second + 1);
    const series = [...this.#seconds]
      .sort(([a], [b]) => a - b)
      .map(([index, second]) => ({ atS: offsetS + index, ...second }));
    return { classes: [...this.#classes.values()].map((tally) => tally.close()), series };
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
    this.#turn(this.#interval.second + 1);
    return {
      total: { ...this.total },
      classes: [...this.#classes.values()].map((tally) => tally.store()),
      lag: this.lag.encode(),
      seconds: [...this.#seconds],
    };
  }

  merge(other: StoredTally): void {
    for (const name of Object.keys(this.total) as (keyof Counts)[]) this.total[name] += other.total[name];
    this.lag.merge(Histogram.decode(other.lag));
    for (const stored of other.classes) this.#class(stored.dialect, stored.stream, stored.outcome).merge(stored);
    for (const [index, second] of other.seconds) {
      const own = this.#seconds.get(index) ?? { ...noCounts(), inFlight: 0, responseMs: null, ttftMs: null };
      for (const name of Object.keys(this.total) as (keyof Counts)[]) own[name] += second[name];
      own.inFlight += second.inFlight;
      // Quantiles of a second are not merged: those of the worker with more in it stand for it.
      own.responseMs ??= second.responseMs;
      own.ttftMs ??= second.ttftMs;
      this.#seconds.set(index, own);
    }
  }
}

function twoOf(histogram: Histogram): LoadSecond["responseMs"] {
  if (histogram.count === 0) return null;
  return { p50: histogram.quantileUs(0.5) / 1_000, p99: histogram.quantileUs(0.99) / 1_000 };
}
