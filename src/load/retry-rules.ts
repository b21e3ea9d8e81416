import type { Random } from "../core/index.ts";
import type { Retry } from "../dialects/index.ts";

/** Numbers of the client's retry rules. The specification shows none (RETRY-11), so all are options. */
export interface RetryOptions {
  /** Attempts in all, the first one included; default 6. */
  readonly maxAttempts: number;
  /** First wait without a usable Retry-After, ms; doubled with each attempt; default 500. */
  readonly baseMs: number;
  /** Longest wait without a Retry-After, ms; default 30,000. */
  readonly maxBackoffMs: number;
  /** A Retry-After that asks for more than this ends the attempts, ms; default 120,000. */
  readonly longestRetryAfterMs: number;
}

export const DEFAULT_RETRY: RetryOptions = {
  maxAttempts: 6,
  baseMs: 500,
  maxBackoffMs: 30_000,
  longestRetryAfterMs: 120_000,
};

/** What an answer asks of a client. */
export interface Answered {
  /** Whether and how the kind of answer may be retried at all. */
  readonly retry: Retry | "served";
  readonly reason: string | undefined;
  /** Usable Retry-After, ms; `undefined` when absent or unusable. 0 asks for no wait and is treated like none. */
  readonly retryAfterMs: number | undefined;
  /** Attempts so far, this one included. */
  readonly attempts: number;
}

export type Decision =
  | { readonly kind: "done" }
  /** Somebody has to act, or enough was tried. */
  | { readonly kind: "stop"; readonly why: string }
  /** The outcome is unknown: repeating could do the work twice (retry rule 3). */
  | { readonly kind: "uncertain" }
  | { readonly kind: "wait"; readonly ms: number; readonly fewer: boolean };

/**
 * The client's retry rules (specification, section 7, rules 1 to 4). Pure: the jitter is handed in.
 *
 * A Retry-After is followed to the millisecond and never cut short. Without one the wait grows exponentially, with full jitter in
 * its upper half, so that clients that were denied together do not come back together.
 */
export function decideRetry(answered: Answered, random: Random, options: RetryOptions = DEFAULT_RETRY): Decision {
  const { retry, reason, retryAfterMs, attempts } = answered;
  if (retry === "served") return { kind: "done" };
  if (retry === "uncertain") return { kind: "uncertain" };
  if (retry === "never") return { kind: "stop", why: reason ?? "not to be retried" };
  if (attempts >= options.maxAttempts) return { kind: "stop", why: `${attempts} attempts` };
  const fewer = reason === "concurrency_limit_exceeded";
  // A wait of nothing is none: taken at its word it would be a tight loop (RETRY-2).
  if (retry === "retry-after" && retryAfterMs !== undefined && retryAfterMs > 0) {
    if (retryAfterMs > options.longestRetryAfterMs)
      return { kind: "stop", why: `Retry-After of ${Math.round(retryAfterMs / 1_000)} s is too long` };
    return { kind: "wait", ms: retryAfterMs, fewer };
  }
  const growing = Math.min(options.maxBackoffMs, options.baseMs * 2 ** (attempts - 1));
  return { kind: "wait", ms: growing / 2 + (random() * growing) / 2, fewer };
}
