import { WINDOW_OVER_MS, WINDOW_US } from "./admitted-in-window.ts";

/**
 * What one admitted request used of a token limit. Gateways count at different times, from the sending of a request to some time
 * after its end, and may reserve more than it then uses.
 */
export interface TokenSpend {
  readonly sentUs: number;
  readonly endUs: number;
  /** Tokens that certainly count. */
  readonly least: number;
  /** Tokens that possibly count. */
  readonly most: number;
}

/** Total of the tokens that certainly count. */
export function surelySpent(spends: readonly TokenSpend[]): number {
  return spends.reduce((sum, { least }) => sum + least, 0);
}

/** Maximum number of tokens that certainly count in one window: those of requests that were sent and completed inside it. */
export function mostSpentInWindow(spends: readonly TokenSpend[]): number {
  return spends.reduce((most, { sentUs }) => {
    const inside = spends.filter((one) => one.sentUs >= sentUs && one.endUs <= sentUs + WINDOW_US);
    return Math.max(most, surelySpent(inside));
  }, 0);
}

/** Tokens that possibly counted at a moment: of requests sent by then that had not ended a minute before. */
export function possiblySpentAt(spends: readonly TokenSpend[], atUs: number): number {
  return spends
    .filter(({ sentUs, endUs }) => sentUs <= atUs && endUs > atUs - WINDOW_OVER_MS * 1_000)
    .reduce((sum, { most }) => sum + most, 0);
}

/** What a gateway stated about the remaining tokens, and what happened next. */
export interface StatedRemaining {
  readonly stated: number;
  /**
   * Tokens that certainly counted for requests admitted after this response, until the first denial, and how long that took, µs.
   */
  readonly spentAfter: number;
  readonly tookUs: number;
  /** Tokens that the next request possibly used, if it was denied. */
  readonly deniedNext: number | undefined;
}

/** How `stated` was wrong, if it was: too many if a request was denied that it covered, too few if more than it was admitted. */
type WrongRemaining = "too many" | "too few" | undefined;

/**
 * Compares what was stated with what happened: requests that need less than stated are admitted, and no more than that. Tokens
 * that are refilled meanwhile count, as does one request each way: the value may be stated before or after the request is
 * counted, and the last one may cross the limit.
 *
 * @param tokensPerMinute the limit.
 * @param one maximum tokens of one request.
 */
export function wrongRemaining(
  { stated, spentAfter, tookUs, deniedNext }: StatedRemaining,
  { tokensPerMinute, one }: { readonly tokensPerMinute: number; readonly one: number },
): WrongRemaining {
  if (deniedNext !== undefined && stated - one >= deniedNext) return "too many";
  const refilled = (tokensPerMinute * tookUs) / (WINDOW_US + 1_000_000);
  return spentAfter > stated + refilled + one ? "too few" : undefined;
}
