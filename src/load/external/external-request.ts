import type { Dialect } from "../../dialects/index.ts";
import type { Observation, Outcome } from "../../judging/index.ts";

/** One request that another program sent, as its raw output tells it. Times are µs from the start of the run. */
export interface ExternalRequest {
  readonly phase: string;
  readonly role: string;
  /** Ordinal of the arrival inside its group, over all instances; retries share it. */
  readonly index: number;
  readonly attempt: number;
  readonly dialect: Dialect;
  readonly stream: boolean;
  readonly key: string;
  readonly outcome: Outcome;
  readonly what: string;
  readonly status: number;
  readonly dueUs: number;
  readonly sentUs: number;
  readonly connectUs: number;
  /** First byte of the answer; 0 when there was none. */
  readonly headUs: number;
  readonly endUs: number;
  readonly tokens: number;
  readonly retryAfter: string | undefined;
  readonly retryAfterWaitMs: number | undefined;
  readonly flaw: "crossed" | undefined;
}

/** A moment must not be 0: that means that it did not happen. */
export function factOf(sent: ExternalRequest): Observation {
  const { phase, role, dialect, stream, key, outcome, what, status, dueUs, sentUs, headUs, endUs, tokens } = sent;
  return {
    phase,
    role,
    dialect,
    stream,
    key,
    outcome,
    what,
    status,
    dueUs,
    sentUs,
    headUs,
    firstTokenUs: 0,
    endUs,
    longestGapUs: 0,
    tokens,
    retryAfter: sent.retryAfter,
    retryAfterWaitMs: sent.retryAfterWaitMs,
    sample: undefined,
    flaw: sent.flaw,
  };
}
