import { EXIT } from "../../core/index.ts";
import type { LoadProgress } from "../../load/index.ts";

/** What a use case reports while it runs. */
export type ProgressEvent =
  /** One line that is shown even if progress is disabled. */
  | { readonly kind: "notice"; readonly text: string }
  /** One line. */
  | { readonly kind: "note"; readonly text: string }
  /** `done` of `total` check instances, or scenarios of a client, are judged; `done` is 0 in the first event. */
  | {
      readonly kind: "checks";
      readonly done: number;
      readonly total: number;
      readonly what: string;
      readonly unit?: "scenario";
    }
  | { readonly kind: "load"; readonly progress: LoadProgress }
  /** A step that takes a while, such as connecting; replaces the previous step. */
  | ({ readonly kind: "step" } & Step)
  /** Progress of the suites, and the approximate remaining time of all checks. */
  | { readonly kind: "suites"; readonly suites: readonly SuiteProgress[]; readonly leftS: number }
  /** A check of a suite starts to wait. */
  | { readonly kind: "wait"; readonly suite: string; readonly what: string; readonly forMs: number }
  /** A suite has nothing more to send. */
  | { readonly kind: "suite"; readonly text: string; readonly verdict: "PASS" | "FAIL" | "INCONCLUSIVE" | "ERROR" }
  /** A deviation that no earlier failure had. */
  | { readonly kind: "cause"; readonly text: string };

export interface Step {
  readonly text: string;
  /** Seconds until everything is over. */
  readonly leftS?: number | undefined;
  /** It may end earlier. */
  readonly atMost?: boolean;
}

export interface SuiteProgress {
  readonly suite: string;
  readonly done: number;
  readonly total: number;
  readonly failed: number;
  /** It has nothing more to send; the remaining checks judge the whole run at its end. */
  readonly over: boolean;
  /** The most recently started check in progress. */
  readonly running: string | undefined;
}

export type OnProgress = (event: ProgressEvent) => void;

export interface Interruption {
  /** Fired by the first signal: nothing new is started, running work may finish. */
  readonly signal: AbortSignal;
  /** Fired by the second signal: everything stops now; the report is still written. */
  readonly now: AbortSignal;
  by(): "SIGINT" | "SIGTERM" | undefined;
  /** Time since the first signal beyond `extendEnd`, ms; 0 before it. Slow work is skipped when the process must end soon. */
  sinceMs(): number;
  /** Extends the time that the process may run after a signal, ms, so that events can be undone. */
  extendEnd(byMs: number): void;
  /** Sets the folder in which the run is recorded, for the message of a process that could not write its report in time. */
  recordedIn(folder: string): void;
  /** Ends the run like the first signal, for an internal reason. */
  stop(): void;
}

/** What a caller passes to a use case that takes a while. */
export interface RunControl {
  readonly interruption: Interruption;
  readonly onProgress: OnProgress;
}

/** The exit code of a use case that writes no record: 130 or 143 after a signal. */
export function exitAfter({ by }: Interruption, exitCode: number): number {
  const signal = by();
  return signal === undefined ? exitCode : signal === "SIGINT" ? EXIT.interrupted : EXIT.terminated;
}
