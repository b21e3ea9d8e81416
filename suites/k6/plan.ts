import type { DenialWords } from "./denial-reading.ts";

/** What `plan.json` holds: the workload file as phases, the target without its keys. Times are ms from the start of the test. */
export interface Plan {
  readonly version: 1;
  readonly name: string;
  /** Replaced by `GAUNTLET_BASE_URL` where that is set. */
  readonly baseUrl: string;
  readonly paths: Readonly<Record<Dialect, string>>;
  /** Name of the header with the named reason of a denial, or a JSON pointer into its body. */
  readonly reasonHeader: string;
  readonly reasonPointer: string | null;
  /** How the target expresses denials. */
  readonly denials: readonly DenialWords[];
  readonly headers: Readonly<Record<Dialect, readonly PlanHeader[]>>;
  /** Keys in use, which take turns: `GAUNTLET_KEY`, `GAUNTLET_KEY_2`. */
  readonly keys: number;
  readonly answerMs: number;
  readonly seed: number;
  readonly retry: RetryOptions;
  readonly groups: readonly Group[];
  /** By metric, as k6 writes them. */
  readonly thresholds: Readonly<Record<string, readonly Threshold[]>>;
}

/** An expression of k6, or one that ends the test when it does not hold. */
export type Threshold =
  | string
  | { readonly threshold: string; readonly abortOnFail: true; readonly delayAbortEval: string };

export type Dialect = "chat" | "messages";

/** A header whose value is a secret stands in the environment. */
export type PlanHeader =
  | { readonly name: string; readonly value: string }
  | { readonly name: string; readonly env: string };

export interface RetryOptions {
  readonly maxAttempts: number;
  readonly baseMs: number;
  readonly maxBackoffMs: number;
  readonly longestRetryAfterMs: number;
  /** Added to every Retry-After wait: timers must not fire early. */
  readonly graceMs: number;
}

export interface PlannedRequest {
  readonly dialect: Dialect;
  readonly stream: boolean;
  /** Body of the request; `@nonce@` stands for a text of its own. */
  readonly body: string;
  /** A chat stream that must state its usage. */
  readonly usageRequested?: boolean;
  readonly weight: number;
}

export type GroupArrivals =
  | { readonly kind: "at-once"; readonly count: number }
  | { readonly kind: "even"; readonly count: number; readonly everyMs: number }
  | { readonly kind: "ramp"; readonly fromPerS: number; readonly toPerS: number; readonly durationMs: number };

/** Requests of one kind of arrival: a k6 scenario. */
export interface Group {
  readonly scenario: string;
  readonly phase: string;
  readonly role: string;
  readonly startMs: number;
  readonly arrivals: GroupArrivals;
  readonly requests: readonly PlannedRequest[];
  /** Asks take turns, or are drawn by weight with the seed. */
  readonly draw: "turns" | "weights";
  readonly retryAfter: "none" | "compliant" | "ignoring";
  /** Most requests in flight of an open loop: k6 drops arrivals beyond it and counts them. */
  readonly vus: number;
  /** Clients give up after this, ms from the start of the group. */
  readonly untilMs: number;
}
