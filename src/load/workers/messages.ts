import type { StoredHistogram } from "../../metrics/index.ts";
import type { JudgedPhase } from "../../record/index.ts";
import type { RequestSpan } from "../request-span.ts";
import type { Sample } from "../sampler.ts";
import type { ShareOptions } from "../send-share.ts";
import type { StoredShare } from "../stored-share.ts";
import type { StoredTally, TallyGrowth } from "../tally.ts";

/** A secret and its name. Stays in the memory of this process. */
export interface SentSecret {
  readonly name: string;
  readonly value: string;
}

/** What a worker is given at its start. */
export interface WorkerStart
  extends Pick<ShareOptions, "workload" | "target" | "seed" | "part" | "originMs" | "outputTokens"> {
  readonly keys: readonly SentSecret[];
  /** What must not be shown, for the samples. */
  readonly secrets: readonly SentSecret[];
  /** Origin of the run on the clock that threads share, µs. */
  readonly originUs: number;
  /** Requests in flight over all workers. */
  readonly inFlight: Int32Array;
  /** Whether somebody watches: what was counted is told as it goes on. */
  readonly isShown: boolean;
  /** Whether requests of a sample are sent with a `traceparent`, and told of. */
  readonly hasSpans: boolean;
}

/** To a worker. Moments are on the clock that threads share, µs. */
export type Order =
  | { readonly kind: "begin"; readonly atUs: number }
  /** Send nothing more, and wait for what runs. */
  | { readonly kind: "stop" }
  /** Leave what runs. */
  | { readonly kind: "abort" };

export interface WorkerProgress {
  readonly total: StoredTally["total"];
  readonly inFlight: number;
  /** Response times of the running second, a whole histogram. */
  readonly response: StoredHistogram;
}

/** For whoever watches: what was counted since it was told before, and how things stand. */
export interface ShownGrowth {
  readonly growth: TallyGrowth;
  /** So far; the most frequent ones. */
  readonly denials: JudgedPhase["denials"];
  /** Connections that were opened so far. */
  readonly opened: number;
  /** Of the thread's event loop, since it was told before. */
  readonly loopDelayP99Ms: number;
}

/** From a worker. */
export type FromWorker =
  /** Its connections are open. */
  | { readonly kind: "ready" }
  | ({ readonly kind: "progress" } & WorkerProgress)
  | { readonly kind: "sample"; readonly sample: Sample }
  | { readonly kind: "span"; readonly span: RequestSpan }
  | ({ readonly kind: "shown" } & ShownGrowth)
  /** Moments are on the clock that threads share, µs. */
  | { readonly kind: "done"; readonly share: StoredShare };
