import type { Dialect } from "../dialects/index.ts";

/**
 * How a request ended. Outcomes are never mixed in one figure. `invalid`: a complete 2xx reply that no client could use;
 * `unfinished`: an admitted stream that was truncated.
 */
export type Outcome = "admitted" | "denied" | "failed" | "invalid" | "unfinished";

/**
 * One request and everything recorded about it, whichever engine sent it. Times are µs on one monotonic clock. What an engine
 * does not measure, or what did not happen, is `undefined`, never 0.
 */
export interface Observation {
  readonly phase: string;
  /** The purpose of the request within its phase: `wave`, `extra`, `again`, … */
  readonly role: string;
  /** Ordinal of the arrival within its phase and role, over all instances of the engine; its retries share it. */
  readonly index?: number;
  /** 1 for the first request of an arrival, 2 for its first retry, … */
  readonly attempt?: number;
  readonly dialect: Dialect;
  readonly stream: boolean;
  readonly key: string;
  readonly outcome: Outcome;
  /**
   * The named reason of a denial, the kind of failure (`500`, `reset`, `deadline`, `cut stream`), or the defect of an invalid
   * 2xx reply.
   */
  readonly what: string;
  readonly status: number | undefined;
  readonly dueUs: number;
  readonly sentUs: number;
  /** Time that the request waited for its own connection to open, µs. */
  readonly connectUs: number | undefined;
  /** Head of the response. */
  readonly headUs: number | undefined;
  /** First byte of the body; not every engine measures it. */
  readonly bodyUs?: number | undefined;
  readonly firstTokenUs: number | undefined;
  readonly endUs: number;
  readonly longestGapUs: number | undefined;
  readonly tokens: number | undefined;
  /** Retry-After as sent, and the wait that it requests, ms; `undefined` if absent or unusable. */
  readonly retryAfter: string | undefined;
  readonly retryAfterWaitMs: number | undefined;
  /** Id of the recorded exchange in the evidence, if it was kept. */
  readonly exchange: string | undefined;
  /** What is wrong with the text of an echo. */
  readonly flaw: "crossed" | "incomplete" | undefined;
}

/** A reply as an external engine received it: it becomes an observation once the reason of its denial is read. Times as above. */
export interface ReceivedReply {
  /** Ordinal of the connection. */
  readonly connection: number;
  readonly sentUs: number;
  readonly headUs: number | undefined;
  readonly endUs: number;
  readonly status: number | undefined;
  /** Status line and header fields as text; empty if there was no response. */
  readonly head: string;
  readonly body: string;
  readonly ending: "complete" | "reset" | "unreachable" | "deadline";
}
