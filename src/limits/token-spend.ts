import { WINDOW_US } from "./admitted-in-window.ts";

/**
 * What one admitted request took of a limit on tokens. Gateways count at different moments, from the sending of a request to a while
 * after its end, and may hold back more than it then uses.
 */
export interface TokenSpend {
  readonly sentUs: number;
  readonly endUs: number;
  /** Tokens that surely count. */
  readonly least: number;
  /** Tokens that possibly count. */
  readonly most: number;
}

/** A little more than a minute: what ended before counts in no window any more, µs. */
const FORGOTTEN_US = 61_000_000;

/** Tokens that surely count, of all of them. */
export function surelySpent(spends: readonly TokenSpend[]): number {
  return spends.reduce((sum, { least }) => sum + least, 0);
}

/** Most tokens that surely count in one window: those of requests that were sent and answered inside it. */
export function mostSpentInWindow(spends: readonly TokenSpend[]): number {
  return spends.reduce((most, { sentUs }) => {
    const inside = spends.filter((one) => one.sentUs >= sentUs && one.endUs <= sentUs + WINDOW_US);
    return Math.max(most, surelySpent(inside));
  }, 0);
}

/** Tokens that possibly counted at a moment: of requests that were sent by then and did not end a minute before. */
export function possiblySpentAt(spends: readonly TokenSpend[], atUs: number): number {
  return spends
    .filter(({ sentUs, endUs }) => sentUs <= atUs && endUs > atUs - FORGOTTEN_US)
    .reduce((sum, { most }) => sum + most, 0);
}

/** What a gateway stated about the remaining tokens, and what came of it. */
export interface StatedRemaining {
  readonly stated: number;
  /** Tokens that surely counted of requests admitted after this answer, until the first denial, and how long that took, µs. */
  readonly spentAfter: number;
  readonly tookUs: number;
  /** Tokens that the next request possibly took, where it was denied. */
  readonly deniedNext: number | undefined;
}

/** How `stated` was wrong, if it was: too many that were not there, or too few although more were let through. */
type WrongRemaining = "too many" | "too few" | undefined;

/**
 * Compares what was stated with what came of it: requests that needed less than was stated are admitted, and no more than that is. What comes back
 * meanwhile counts, and one request each way: it may be stated before or after the request is counted, and the last one may cross the limit.
 *
 * @param tokensPerMinute the limit.
 * @param one most tokens of one request.
 */
export function wrongRemaining(
  { stated, spentAfter, tookUs, deniedNext }: StatedRemaining,
  { tokensPerMinute, one }: { readonly tokensPerMinute: number; readonly one: number },
): WrongRemaining {
  if (deniedNext !== undefined && stated - one >= deniedNext) return "too many";
  const cameBack = (tokensPerMinute * tookUs) / (WINDOW_US + 1_000_000);
  return spentAfter > stated + cameBack + one ? "too few" : undefined;
}
