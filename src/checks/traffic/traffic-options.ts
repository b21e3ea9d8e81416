import type { RequestBudget, Share } from "../../budget/index.ts";
import type { Clock } from "../../core/index.ts";
import type { Endpoint, Mode } from "../../dialects/index.ts";
import type { Key, Provisioner, Target } from "../../target/index.ts";
import type { Reaches } from "../declare/reaches.ts";
import type { RunKind } from "../declare/schedule.ts";
import type { Response } from "../response/response.ts";

export interface TrafficOptions extends Partial<RunKind> {
  readonly target: Target;
  /** The budget from the permit of the command. */
  readonly budget: RequestBudget;
  readonly seed: number;
  readonly signal: AbortSignal;
  readonly onResponse?: (response: Response) => void;
  /** Called when a wait of some seconds begins. */
  readonly onWait?: ((wait: Wait) => void) | undefined;
  /** Creates states that the target file does not have, and fresh ones of those that a run uses up. */
  readonly provisioner?: Provisioner | undefined;
  readonly clock?: Clock;
  /** Called when the gateway has stopped responding. Nothing more is sent here, and other senders should stop. */
  readonly onStopped?: (() => void) | undefined;
  /** Requests in flight of load that runs in parallel with the checks. */
  readonly inFlightOfLoad?: (() => number) | undefined;
}

/** A wait that has begun, for the progress display. */
export interface Wait {
  /** What is waited for, such as "the rate window of key.valid". */
  readonly what: string;
  readonly forMs: number;
  /** The check instance that it delays; absent for a request of the run itself. */
  readonly by?: string | undefined;
}

/** The axes and defaults that the requests of a check inherit. */
export interface SendDefaults {
  readonly endpoint: Endpoint;
  readonly mode: Mode;
  /** Key of requests that name none; default `valid`. */
  readonly key?: Key | undefined;
  /** The part of the budget reserved for the check. */
  readonly share?: Share | undefined;
  /** `true`: a request in a dialect that the target does not serve uses the one that it serves. */
  readonly anyDialect?: boolean;
  /** The limit that the check reaches on purpose. Requests that it starts then do not count toward the pacing. */
  readonly reaches?: Reaches | undefined;
  /** The check instance that sends. */
  readonly by?: string | undefined;
}
