import type { LoadGuard, LoadRequestSpec, RequestLane } from "../load/index.ts";
import type { UpstreamLog } from "./upstream-log.ts";

/** Number of clients, and the kind of request that each one repeats. */
export interface Level {
  readonly concurrency: number;
  readonly stream: boolean;
  readonly promptBytes: number;
}

/** Destination of an arm. */
export interface LaneTarget {
  readonly name: string;
  readonly target: Parameters<typeof RequestLane.open>[0]["target"];
  /** Counts what the arm sends over all levels. */
  readonly guard: LoadGuard;
  readonly requestOf: (level: Level) => LoadRequestSpec;
  /** The log of its upstream; `undefined` if what the gateway sends cannot be observed. */
  readonly log?: UpstreamLog | undefined;
}

export interface OverheadControl {
  /** Stops sending; running requests are awaited. */
  readonly stop: AbortSignal;
  /** Stops everything immediately. */
  readonly abort: AbortSignal;
}

export interface OverheadOptions extends OverheadControl {
  readonly direct: LaneTarget;
  readonly gateways: readonly LaneTarget[];
  readonly levels: readonly Level[];
  /** In each round, every gateway runs one block and the upstream runs two. */
  readonly rounds: number;
  /** Approximate length of a block, seconds. */
  readonly blockS: number;
  /** Whether gateways are also measured at rising rates. */
  readonly frontier: boolean;
  /** For the order of the blocks, the arrivals and the resampling. */
  readonly seed: number;
  readonly onProgress: (text: string, leftS: number) => void;
  /** What the operator has to know even without progress output. */
  readonly onNotice: (text: string) => void;
}
