import type { Dialect } from "../dialects/index.ts";
import type { Observation, Outcome } from "../judging/index.ts";
import { Histogram, type StoredHistogram } from "../metrics/index.ts";
import type { LoadClass } from "../record/index.ts";
import type { LoadExchange } from "./http/load-exchange.ts";

type Figure =
  | "response"
  | "service"
  | "ttft"
  | "gap"
  | "connect"
  | "headers"
  | "firstByte"
  | "firstEvent"
  | "longestStall"
  | "perToken";

/** What a worker hands over of a class: whole histograms, so that quantiles are never averaged. */
export interface StoredClass {
  readonly dialect: Dialect;
  readonly stream: boolean;
  readonly outcome: Outcome;
  readonly count: number;
  readonly outputTokens: number;
  readonly events: number;
  readonly reads: number;
  readonly figures: Readonly<Record<string, StoredHistogram>>;
}

/** One dialect, mode and outcome: its histograms are made when first needed and never mixed with another's. */
export class ClassTally {
  readonly dialect: Dialect;
  readonly stream: boolean;
  readonly outcome: Outcome;
  #count = 0;
  #outputTokens = 0;
  #events = 0;
  #reads = 0;
  readonly #figures = new Map<Figure, Histogram>();

  constructor(dialect: Dialect, stream: boolean, outcome: Outcome) {
    this.dialect = dialect;
    this.stream = stream;
    this.outcome = outcome;
  }

  ended(exchange: LoadExchange): void {
    const { dueUs, sentUs, endUs } = exchange;
    this.#count++;
    this.#record("response", endUs - dueUs);
    this.#record("service", endUs - sentUs);
    if (exchange.connectUs > 0) this.#record("connect", exchange.connectUs);
    if (exchange.headUs > 0) this.#record("headers", exchange.headUs - sentUs);
    if (exchange.firstByteUs > 0) this.#record("firstByte", exchange.firstByteUs - sentUs);
    if (this.stream) this.#streamed(exchange);
  }

  /** Counts what another engine measured. */
  observed({ dueUs, sentUs, endUs, connectUs, headUs, firstTokenUs, tokens }: Observation): void {
    this.#count++;
    this.#record("response", endUs - dueUs);
    this.#record("service", endUs - sentUs);
    if (connectUs !== undefined) this.#record("connect", connectUs);
    if (headUs !== undefined) this.#record("headers", headUs - sentUs);
    if (!this.stream) return;
    if (firstTokenUs !== undefined) this.#record("ttft", firstTokenUs - sentUs);
    this.#outputTokens += tokens ?? 0;
  }

  #streamed(exchange: LoadExchange): void {
    const { sentUs, firstEventUs, firstTokenUs, lastTokenUs, scanner, gapsUs, longestGapUs, outputTokens } = exchange;
    if (firstEventUs > 0) this.#record("firstEvent", firstEventUs - sentUs);
    if (firstTokenUs > 0) this.#record("ttft", firstTokenUs - sentUs);
    // Made only where a gap was seen: an engine that sees none has no histogram of them.
    const gaps = gapsUs.length === 0 ? undefined : this.#histogram("gap");
    for (let index = 0; index < gapsUs.length; index++) gaps?.record(gapsUs[index] as number);
    if (exchange.earlierGaps !== undefined) this.#histogram("gap").merge(exchange.earlierGaps);
    if (gapsUs.length > 0 || exchange.earlierGaps !== undefined) this.#record("longestStall", longestGapUs);
    if (outputTokens > 1 && firstTokenUs > 0)
      this.#record("perToken", (lastTokenUs - firstTokenUs) / (outputTokens - 1));
    this.#outputTokens += outputTokens;
    this.#events += scanner?.events ?? 0;
    this.#reads += exchange.reads;
  }

  #record(figure: Figure, us: number): void {
    this.#histogram(figure).record(us);
  }

  #histogram(figure: Figure): Histogram {
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
      count: this.#count,
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
      eventsPerRead: this.#reads === 0 || this.#events === 0 ? null : this.#events / this.#reads,
      outputTokens: this.#outputTokens,
    };
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
    };
  }

  /** Adds what another worker counted of the same class. */
  merge(other: StoredClass): void {
    this.#count += other.count;
    this.#outputTokens += other.outputTokens;
    this.#events += other.events;
    this.#reads += other.reads;
    for (const [figure, stored] of Object.entries(other.figures))
      this.#histogram(figure as Figure).merge(Histogram.restore(stored));
  }
}
