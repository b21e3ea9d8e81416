import { temporaryLimitOf } from "../requirements/index.ts";

/** What a response means in standard terms: served, refused on purpose, or neither. */
export type Classification =
  | { readonly kind: "admitted" }
  /** The gateway refused and said why: by a named reason, or by the status alone. */
  | { readonly kind: "denial"; readonly status: number; readonly reason: string | undefined; readonly retry: Retry }
  /** A broken connection, a time-out of ours, a 5xx: not a refusal. */
  | { readonly kind: "failure"; readonly status: number | undefined; readonly retry: Retry };

/**
 * Whether and how a client may try again: never, after the Retry-After wait (else with backoff), or with bounded backoff. A
 * time-out leaves the outcome uncertain and is not repeated automatically (retry rule 3).
 */
export type Retry = "never" | "retry-after" | "backoff" | "uncertain";

export const isLimitReason = (reason: string | undefined): boolean => temporaryLimitOf(reason) !== undefined;

export interface Facts {
  /** Status of the final response; `undefined` if there was none. */
  readonly status: number | undefined;
  /** Reason header; the body is never consulted (7.P1, 7.P2, 7.P4). */
  readonly reason: string | undefined;
  /** Whether the message arrived completely. */
  readonly complete: boolean;
  /** Whether we stopped waiting. */
  readonly timedOut?: boolean;
}

/** Classifies a response: by its status first, then by the named reason, never by its body. */
export function classify({ status, reason, complete, timedOut = false }: Facts): Classification {
  if (timedOut) return { kind: "failure", status, retry: "uncertain" };
  if (status === undefined) return { kind: "failure", status, retry: "backoff" };
  if (status >= 500) return { kind: "failure", status, retry: "backoff" };
  if (status === 429) return { kind: "denial", status, reason, retry: temporary(reason) ? "retry-after" : "never" };
  if (status >= 400) return { kind: "denial", status, reason, retry: "never" };
  if (status < 200 || status > 299) return { kind: "failure", status, retry: "never" };
  return complete ? { kind: "admitted" } : { kind: "failure", status, retry: "backoff" };
}

/** A 429 without a reason is a rate limit, as everywhere else in HTTP. */
function temporary(reason: string | undefined): boolean {
  return reason === undefined || isLimitReason(reason);
}
