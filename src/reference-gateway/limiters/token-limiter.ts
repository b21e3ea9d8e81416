import { WINDOW_US } from "./rate-limiter.ts";

/** Header with the remaining tokens. */
export const REMAINING_TOKENS = "X-RateLimit-Remaining-Tokens";

export const TOKEN_COUNTS = ["total", "prompt", "reserved"] as const;

/** What counts: prompt and completion; only the prompt; or, at admission, the prompt and the maximum length of the reply. */
export type TokenCounts = (typeof TOKEN_COUNTS)[number];

/** The tokens that one request counts as. */
export interface CountedTokens {
  readonly atUs: number;
  /** Lowered when a reply used less than was reserved for it. */
  tokens: number;
}

/** Admission by tokens per minute, in two steps like the request rate. Times are monotonic microseconds. */
export interface TokenLimiter {
  readonly tokensPerMinute: number;
  /** @returns microseconds until a request with this many tokens would be admitted; 0 means now. Changes nothing. */
  waitUs(tokens: number, nowUs: number): number;
  /** Counts a request. Changing the returned object gives tokens back, or takes more. */
  count(tokens: number, nowUs: number): CountedTokens;
  /** Tokens that would be admitted right now; 0 or more. */
  remaining(nowUs: number): number;
}

/**
 * Counts what was admitted since the window began.
 *
 * @param beginUs start of the window at a given time.
 * @param leavesUs when tokens counted at a given time leave the window.
 */
function windowLimiter(
  tokensPerMinute: number,
  beginUs: (nowUs: number) => number,
  leavesUs: (atUs: number) => number,
): TokenLimiter {
  let counted: CountedTokens[] = [];
  const used = (nowUs: number) => {
    counted = counted.filter(({ atUs }) => atUs > beginUs(nowUs));
    return counted.reduce((sum, { tokens }) => sum + tokens, 0);
  };
  return {
    tokensPerMinute,
    waitUs(tokens, nowUs) {
      // A request larger than the limit is admitted when nothing else counts: it would never be served otherwise.
      let excess = used(nowUs) + Math.min(tokens, tokensPerMinute) - tokensPerMinute;
      let freeUs = nowUs;
      for (const one of counted) {
        if (excess <= 0) break;
        excess -= one.tokens;
        freeUs = leavesUs(one.atUs);
      }
      return Math.max(0, freeUs - nowUs);
    },
    count(tokens, nowUs) {
      const one = { atUs: nowUs, tokens };
      counted.push(one);
      return one;
    },
    remaining: (nowUs) => Math.max(0, tokensPerMinute - used(nowUs)),
  };
}

/** Any minute holds at most the limit. */
export function rollingTokens(tokensPerMinute: number): TokenLimiter {
  return windowLimiter(
    tokensPerMinute,
    (nowUs) => nowUs - WINDOW_US,
    (atUs) => atUs + WINDOW_US,
  );
}

/** Resets at the edge of each window. @param originUs start of one of them. */
export function fixedTokens(tokensPerMinute: number, originUs: number): TokenLimiter {
  const beginUs = (us: number) => originUs + Math.floor((us - originUs) / WINDOW_US) * WINDOW_US;
  return windowLimiter(
    tokensPerMinute,
    // A request exactly at the edge belongs to the window that begins there.
    (nowUs) => beginUs(nowUs) - 1,
    (atUs) => beginUs(atUs) + WINDOW_US,
  );
}

/** Refills evenly, up to `size` tokens. */
export function tokensInBucket(tokensPerMinute: number, size: number = tokensPerMinute): TokenLimiter {
  const perUs = tokensPerMinute / WINDOW_US;
  let saved = size;
  let seenUs: number | undefined;
  const refill = (nowUs: number) => {
    saved = Math.min(size, saved + (nowUs - (seenUs ?? nowUs)) * perUs);
    seenUs = nowUs;
  };
  return {
    tokensPerMinute,
    waitUs(tokens, nowUs) {
      refill(nowUs);
      return Math.max(0, (Math.min(tokens, size) - saved) / perUs);
    },
    count(tokens, nowUs) {
      refill(nowUs);
      saved -= tokens;
      let counts = tokens;
      return {
        atUs: nowUs,
        get tokens() {
          return counts;
        },
        set tokens(changed) {
          saved = Math.min(size, saved + counts - changed);
          counts = changed;
        },
      };
    },
    remaining(nowUs) {
      refill(nowUs);
      return Math.max(0, Math.floor(saved));
    },
  };
}
