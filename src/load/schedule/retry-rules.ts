import type { Random } from "../../core/index.ts";
import type { Retry } from "../../dialects/index.ts";

/** Parameters of the client's retry rules. The specification defines none (RETRY-11), so all are options. */
export interface RetryOptions {
  /** Total number of attempts, including the first; default 6. */
  readonly maxAttempts: number;
  /** First wait without a usable Retry-After, ms; doubled with each attempt; default 500. */
  readonly baseMs: number;
  /** Maximum wait without a Retry-After, ms; default 30,000. */
  readonly maxBackoffMs: number;
  /** A longer Retry-After ends the attempts, ms; default 120,000. */
  readonly longestRetryAfterMs: number;
}

export const DEFAULT_RETRY: RetryOptions = {
  maxAttempts: 6,
  baseMs: 500,
  maxBackoffMs: 30_000,
  longestRetryAfterMs: 120_000,
};

/** The parts of a response that determine a retry. */
export interface RetryInput {
  /** Whether and how this kind of response may be retried. */
  readonly retry: Retry | "served";
  readonly reason: string | undefined;
  /** Usable Retry-After, ms; `undefined` if absent or unusable. 0 counts as no Retry-After. */
  readonly retryAfterMs: number | undefined;
  /** Attempts so far, including this one. */
  readonly attempts: number;
}

export type Decision =
  | { readonly kind: "done" }
  /** User action is needed, or the attempts are used up. */
  | { readonly kind: "stop"; readonly why: string }
  /** The outcome is unknown: a retry could do the work twice (retry rule 3). */
  | { readonly kind: "uncertain" }
  | { readonly kind: "wait"; readonly ms: number; readonly fewer: boolean };

/**
 * The client's retry rules (specification, section 7, rules 1 to 4). Pure: the jitter is a parameter.
 *
 * A Retry-After is followed to the millisecond and never shortened. Without one, the wait grows exponentially, with full jitter
 * in its upper half, so that clients that were denied together do not retry together.
 */
export function decideRetry(input: RetryInput, random: Random, options: RetryOptions = DEFAULT_RETRY): Decision {
  const { retry, reason, retryAfterMs, attempts } = input;
  if (retry === "served") return { kind: "done" };
  if (retry === "uncertain") return { kind: "uncertain" };
  if (retry === "never") return { kind: "stop", why: reason ?? "not to be retried" };
  if (attempts >= options.maxAttempts) return { kind: "stop", why: `${attempts} attempts` };
  const fewer = reason === "concurrency_limit_exceeded";
  // A wait of zero does not count: taken literally, it would cause a tight loop (RETRY-2).
  if (retry === "retry-after" && retryAfterMs !== undefined && retryAfterMs > 0) {
    if (retryAfterMs > options.longestRetryAfterMs)
      return { kind: "stop", why: `Retry-After of ${Math.round(retryAfterMs / 1_000)} s is too long` };
    return { kind: "wait", ms: retryAfterMs, fewer };
  }
  const growing = Math.min(options.maxBackoffMs, options.baseMs * 2 ** (attempts - 1));
  return { kind: "wait", ms: growing / 2 + (random() * growing) / 2, fewer };
}
