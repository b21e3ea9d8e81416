import type { Dialect } from "../dialects/index.ts";

/** What a request came to. Outcomes are never mixed in one figure. `unfinished`: an admitted stream that broke off. */
export type Outcome = "admitted" | "denied" | "failed" | "unfinished";

/** One request and what came of it, whichever engine sent it. Moments are µs on one monotonic clock. */
export interface Observation {
  readonly phase: string;
  /** What the request was for inside its phase: `wave`, `extra`, `again`, … */
  readonly role: string;
  readonly dialect: Dialect;
  readonly stream: boolean;
  readonly key: string;
  readonly outcome: Outcome;
  /** Named reason of a denial, or how it failed: `500`, `reset`, `deadline`, `cut stream`. */
  readonly what: string;
  readonly status: number;
  readonly dueUs: number;
  readonly sentUs: number;
  /** Head of the response; 0 when there was none. */
  readonly headUs: number;
  readonly firstTokenUs: number;
  readonly endUs: number;
  readonly longestGapUs: number;
  readonly tokens: number;
  /** Retry-After as sent, and the wait that it asks for, ms; `undefined` when absent or unusable. */
  readonly retryAfter: string | undefined;
  readonly retryAfterWaitMs: number | undefined;
  /** Exchange in the evidence, where it was kept. */
  readonly sample: string | undefined;
  /** What is wrong with the text of an echo. */
  readonly flaw: "crossed" | "incomplete" | undefined;
}
