import type { StoredHistogram } from "../../metrics/index.ts";
import type { JudgedPhase } from "../../record/index.ts";
import type { Sample } from "../measure/sampler.ts";
import type { ByFigure } from "../measure/second-series.ts";
import type { StoredTally, TallyGrowth } from "../measure/tally.ts";
import type { RequestSpan } from "../send/request-span.ts";
import type { ShareOptions } from "../send/send-share.ts";
import type { StoredShare } from "../shards/stored-share.ts";

/** A secret and its name. Never leaves the memory of this process. */
export interface SentSecret {
  readonly name: string;
  readonly value: string;
}

/** Initial data of a worker. */
export interface WorkerStart
  extends Pick<ShareOptions, "workload" | "target" | "seed" | "part" | "originMs" | "outputTokens"> {
  readonly keys: readonly SentSecret[];
  /** Values that must not be shown, for the samples. */
  readonly secrets: readonly SentSecret[];
  /** Origin of the run on the clock shared by all threads, µs. */
  readonly originUs: number;
  /** Requests in flight over all workers. */
  readonly inFlight: Int32Array;
  /** Whether there is a live display: counts are then reported during the run. */
  readonly isShown: boolean;
  /** Whether sampled requests are sent with a `traceparent` and reported. */
  readonly hasSpans: boolean;
}

/** Messages to a worker. Times are on the clock shared by all threads, µs. */
export type Order =
  | { readonly kind: "begin"; readonly atUs: number }
  /** Send no more requests, and wait for those in flight. */
  | { readonly kind: "stop" }
  /** Abort the requests in flight. */
  | { readonly kind: "abort" };

export interface WorkerProgress {
  readonly total: StoredTally["total"];
  readonly inFlight: number;
  /** Latencies of the current second, as whole histograms. */
  readonly running: ByFigure<StoredHistogram>;
}

/** For the live display: what was counted since the last report, and the current state. */
export interface ShownGrowth {
  readonly growth: TallyGrowth;
  /** Totals so far; the most frequent ones. */
  readonly denials: JudgedPhase["denials"];
  /** Connections opened so far. */
  readonly opened: number;
  /** For the thread's event loop, since the last report. */
  readonly loopDelayP99Ms: number;
}

/** Messages from a worker. */
export type FromWorker =
  /** Its connections are open. */
  | { readonly kind: "ready" }
  | ({ readonly kind: "progress" } & WorkerProgress)
  | { readonly kind: "sample"; readonly sample: Sample }
  | { readonly kind: "span"; readonly span: RequestSpan }
  | ({ readonly kind: "shown" } & ShownGrowth)
  /** Times are on the clock shared by all threads, µs. */
  | { readonly kind: "done"; readonly share: StoredShare };
