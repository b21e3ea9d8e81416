import type { DenialWords } from "./denial-reading.ts";

/**
 * Content of `plan.json`: the workload file as phases, and the target without its keys. Times are ms from the start of the test.
 */
export interface Plan {
  readonly version: 1;
  readonly name: string;
  /** Replaced by `GAUNTLET_BASE_URL` if that is set. */
  readonly baseUrl: string;
  readonly paths: Readonly<Record<Dialect, string>>;
  /** Name of the header with the named reason of a denial, or a JSON pointer into its body. */
  readonly reasonHeader: string;
  readonly reasonPointer: string | null;
  /** How the target expresses denials. */
  readonly denials: readonly DenialWords[];
  readonly headers: Readonly<Record<Dialect, readonly PlanHeader[]>>;
  /** Number of keys in use, in rotation: `GAUNTLET_KEY`, `GAUNTLET_KEY_2`. */
  readonly keys: number;
  readonly responseMs: number;
  readonly seed: number;
  readonly retry: RetryOptions;
  readonly groups: readonly Group[];
  /** By metric, in k6's syntax. */
  readonly thresholds: Readonly<Record<string, readonly Threshold[]>>;
}

/** A k6 expression, or one that ends the test if it does not hold. */
export type Threshold =
  | string
  | { readonly threshold: string; readonly abortOnFail: true; readonly delayAbortEval: string };

export type Dialect = "chat" | "messages";

/** A header whose value is a secret is read from the environment. */
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
  /** Body of the request; `@nonce@` is replaced by a unique text. */
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
  /** Requests take turns, or are drawn by weight with the seed. */
  readonly draw: "turns" | "weights";
  readonly retryAfter: "none" | "compliant" | "ignoring";
  /** Maximum number of requests in flight of an open loop: k6 drops arrivals beyond it and counts them. */
  readonly vus: number;
  /** Clients stop at this time, ms from the start of the group. */
  readonly untilMs: number;
}
