/**
 * The outcome of a request.
 * - `complete`: the non-streaming reply was handed over
 * - `interrupted`: the client left, or the gateway closed, before the end; charged for what was delivered
 * - `broken`: the provider failed in the middle of a stream; free
 * - `failed`: the provider or the gateway failed before any output; free
 * - `denied`: refused; free
 */
export type Outcome = "complete" | "interrupted" | "broken" | "failed" | "denied";

/** How a request ended, for charges and the concurrency limit. */
export interface Closing {
  readonly outcome: Outcome;
  readonly status: number;
  /** Output tokens that were handed to the connection. */
  readonly deliveredTokens: number;
}
