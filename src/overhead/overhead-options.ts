import type { LoadGuard, LoadRequestSpec, RequestLane } from "../load/index.ts";
import type { UpstreamLog } from "./upstream-log.ts";

/** Number of clients, and the kind of request that each repeats. */
export interface Level {
  readonly concurrency: number;
  readonly stream: boolean;
  readonly promptBytes: number;
}

/** Where an arm sends. */
export interface LaneTarget {
  readonly name: string;
  readonly target: Parameters<typeof RequestLane.open>[0]["target"];
  /** Counts what the arm sends over all levels. */
  readonly guard: LoadGuard;
  readonly requestOf: (level: Level) => LoadRequestSpec;
  /** The log of its upstream; `undefined`: nobody can look at what it sends. */
  readonly log?: UpstreamLog | undefined;
}

export interface OverheadControl {
  /** Ends the sending; what runs is waited for. */
  readonly stop: AbortSignal;
  /** Ends everything now. */
  readonly abort: AbortSignal;
}

export interface OverheadOptions extends OverheadControl {
  readonly direct: LaneTarget;
  readonly gateways: readonly LaneTarget[];
  readonly levels: readonly Level[];
  /** In each, every gateway runs one block and the upstream two. */
  readonly rounds: number;
  /** Length of a block, about, seconds. */
  readonly blockS: number;
  /** Whether gateways are measured at rising rates too. */
  readonly frontier: boolean;
  /** Of the order of the blocks, the arrivals and the resampling. */
  readonly seed: number;
  readonly onProgress: (text: string, leftS: number) => void;
  /** What the operator has to know whether or not they want to see the progress. */
  readonly onNotice: (text: string) => void;
}
