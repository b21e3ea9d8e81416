import { EXIT } from "../core/index.ts";
import type { LoadProgress } from "../load/index.ts";

/** What a use case reports while it runs. */
export type ProgressEvent =
  /** One line that is shown even when the caller wants no progress. */
  | { readonly kind: "notice"; readonly text: string }
  /** One line. */
  | { readonly kind: "note"; readonly text: string }
  /** `done` of `total` check instances are judged; the first event has `done` 0. */
  | { readonly kind: "checks"; readonly done: number; readonly total: number; readonly what: string }
  | { readonly kind: "load"; readonly progress: LoadProgress }
  /** What takes a while now, such as connecting; replaces the step before. */
  | ({ readonly kind: "step" } & Step)
  /** How far the suites are, and how long all checks still take, about. */
  | { readonly kind: "suites"; readonly suites: readonly SuiteProgress[]; readonly leftS: number }
  /** A check of a suite waits from now on. */
  | { readonly kind: "wait"; readonly suite: string; readonly what: string; readonly forMs: number }
  /** Nothing more is sent for a suite. */
  | { readonly kind: "suite"; readonly text: string; readonly verdict: "PASS" | "FAIL" | "INCONCLUSIVE" }
  /** A deviation that no failure before had. */
  | { readonly kind: "cause"; readonly text: string };

export interface Step {
  readonly text: string;
  /** Seconds until the whole of it is over. */
  readonly leftS?: number | undefined;
  /** It may be over sooner. */
  readonly atMost?: boolean;
}

export interface SuiteProgress {
  readonly suite: string;
  readonly done: number;
  readonly total: number;
  readonly failed: number;
  /** Nothing more is sent for it; what is left judges the whole run at its end. */
  readonly over: boolean;
  /** The check that was started last of those under way. */
  readonly running: string | undefined;
}

export type OnProgress = (event: ProgressEvent) => void;

export interface Interruption {
  /** Fired by the first signal: nothing new is begun, what runs may end. */
  readonly signal: AbortSignal;
  /** Fired by the second one: everything stops now; the report is still written. */
  readonly now: AbortSignal;
  by(): "SIGINT" | "SIGTERM" | undefined;
  /** Time since the first signal, ms; 0 before it. What takes long is left out when the process must end soon. */
  sinceMs(): number;
  /** Names the folder in which the run is recorded, for the message of a process that could not write its report in time. */
  recordedIn(folder: string): void;
  /** Ends the run as the first signal does, for a reason of our own. */
  stop(): void;
}

/** What a caller gives to a use case that takes a while. */
export interface RunControl {
  readonly interruption: Interruption;
  readonly onProgress: OnProgress;
}

/** The exit code of a use case that writes no record: 130 or 143 after a signal. */
export function exitAfter({ by }: Interruption, exitCode: number): number {
  const signal = by();
  return signal === undefined ? exitCode : signal === "SIGINT" ? EXIT.interrupted : EXIT.terminated;
}
