import { randomBytes } from "node:crypto";
import type { Dialect } from "../../dialects/index.ts";
import type { LoadExchange, TraceIds } from "../../http/load-client/index.ts";
import type { Outcome } from "../../judging/index.ts";
import type { RequestOutcome } from "./outcome.ts";

/** One request that was sent with a `traceparent`. Times are wall clock, Unix epoch milliseconds with fractions. */
export interface RequestSpan extends TraceIds {
  readonly run: string;
  readonly phase: string;
  readonly dialect: Dialect;
  readonly model: string;
  readonly stream: boolean;
  readonly sentMs: number;
  /** Absent if there was none. */
  readonly firstTokenMs: number | undefined;
  readonly endMs: number;
  /** 0: no response. */
  readonly status: number;
  readonly outcome: Outcome;
  /** Reason of a denial, or how it failed. */
  readonly what: string;
  readonly outputTokens: number;
}

export type OnSpan = (span: RequestSpan) => void;

export interface SpanOptions {
  readonly run: string;
  /** Approximate number of requests in the run. */
  readonly requests: number;
  /** Origin of the run on the clock of `nowUs`, and the wall clock at that time. */
  readonly originUs: number;
  readonly originMs: number;
  readonly onSpan: OnSpan;
}

/** Approximate number of spans per run: enough to inspect, and few enough that the overhead does not matter. */
const SPANS = 200;

/** Selects the requests of a run that are sent with a `traceparent`, evenly, and reports them when they have ended. */
export class SpanSampler {
  readonly #options: SpanOptions;
  readonly #every: number;
  readonly #sent = new Set<string>();
  #count = 0;

  constructor(options: SpanOptions) {
    this.#options = options;
    this.#every = Math.max(1, Math.ceil(options.requests / SPANS));
  }

  /** @returns ids for the next request if it is sampled. */
  next(): TraceIds | undefined {
    if (this.#count++ % this.#every !== 0) return undefined;
    const ids = { traceId: randomBytes(16).toString("hex"), spanId: randomBytes(8).toString("hex") };
    this.#sent.add(ids.spanId);
    return ids;
  }

  /** Reports a sampled request. A retry has the same ids and is not reported again. */
  ended(exchange: LoadExchange, { outcome, what }: RequestOutcome, phase: string): void {
    const { trace, dialect, stream } = exchange.prepared;
    if (trace === undefined || !this.#sent.delete(trace.spanId)) return;
    const { run, originUs, originMs, onSpan } = this.#options;
    const { sentUs, firstTokenUs, endUs, status, outputTokens } = exchange;
    const atMs = (us: number) => originMs + (us - originUs) / 1_000;
    onSpan({
      ...{ ...trace, run, phase, dialect, stream, status, outcome, what, outputTokens },
      sentMs: atMs(sentUs === 0 ? endUs : sentUs),
      firstTokenMs: firstTokenUs === 0 ? undefined : atMs(firstTokenUs),
      endMs: atMs(endUs),
    });
  }
}

/** @see https://www.w3.org/TR/trace-context/#traceparent-header, sampled */
export function traceparent({ traceId, spanId }: TraceIds): string {
  return `00-${traceId}-${spanId}-01`;
}
