import type { RetryOptions } from "./plan.ts";

/**
 * What a response requires of a client: `retry-after` for temporary denials, `backoff` for failures, `uncertain` for timeouts.
 */
export type Retry = "served" | "retry-after" | "backoff" | "uncertain" | "never";

export interface RetryInput {
  readonly retry: Retry;
  readonly reason: string;
  /** Usable Retry-After, ms; `undefined` when absent or unusable. */
  readonly retryAfterMs: number | undefined;
  /** Attempts so far, including this one. */
  readonly attempts: number;
}

export type Decision =
  | { readonly kind: "done" | "stop" | "uncertain" }
  | { readonly kind: "wait"; readonly ms: number; readonly fromRetryAfter: boolean };

/** Denials by a limit: waiting resolves them. */
export const LIMIT_REASONS = ["rate_limit_exceeded", "concurrency_limit_exceeded"];

/** Determines from the status and the named reason how a request may be retried (specification, section 7). */
export function retryOf(status: number, reason: string, complete: boolean, timedOut: boolean): Retry {
  if (timedOut) return "uncertain";
  if (status === 0 || status >= 500) return "backoff";
  // A 429 without a reason is a rate limit, as everywhere else in HTTP.
  if (status === 429) return reason === "" || LIMIT_REASONS.includes(reason) ? "retry-after" : "never";
  if (status < 200 || status > 299) return "never";
  return complete ? "served" : "backoff";
}

/**
 * Retry rules 1 to 4. A Retry-After is followed to the millisecond; without one the wait grows, with jitter in its upper half. k6
 * clients share no memory, so they cannot reduce a common number in flight: after a concurrency denial each adds its backoff to
 * the wait, which reduces it.
 *
 * @param random from 0 to below 1.
 */
export function decideRetry(input: RetryInput, random: number, options: RetryOptions): Decision {
  const { retry, reason, retryAfterMs, attempts } = input;
  if (retry === "served") return { kind: "done" };
  if (retry === "uncertain") return { kind: "uncertain" };
  if (retry === "never" || attempts >= options.maxAttempts) return { kind: "stop" };
  const growing = Math.min(options.maxBackoffMs, options.baseMs * 2 ** (attempts - 1));
  const backoffMs = growing / 2 + (random * growing) / 2;
  // Zero is not a wait: followed literally, it would be a tight loop.
  if (retry !== "retry-after" || retryAfterMs === undefined || retryAfterMs === 0)
    return { kind: "wait", ms: backoffMs, fromRetryAfter: false };
  if (retryAfterMs > options.longestRetryAfterMs) return { kind: "stop" };
  return {
    kind: "wait",
    ms: retryAfterMs + (reason === "concurrency_limit_exceeded" ? backoffMs : 0),
    fromRetryAfter: true,
  };
}
