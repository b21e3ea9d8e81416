import { type Variant, variant } from "../change.ts";
import { tokenLimitersFrom } from "../edits/limit-scopes.ts";
import { setHeader } from "../edits/response-edits.ts";
import { onServed, wrap } from "../edits/wrap.ts";
import { fixedTokens, REMAINING_TOKENS, rollingTokens, tokensInBucket } from "../limits/token-limiter.ts";
import { headerOf } from "../pipeline/response.ts";

/** How a token limit may count; for accounts that have one. */
export const TOKEN_VARIANTS: readonly Variant[] = [
  variant("tokens.rolling-window", "Tokens are limited in any minute.", tokenLimitersFrom(rollingTokens)),
  variant(
    "tokens.fixed-window",
    "Tokens are limited in fixed windows, from the first request on.",
    tokenLimitersFrom((perMinute, { services }) => fixedTokens(perMinute, services.clock.monotonicUs())),
  ),
  variant(
    "tokens.clock-minute",
    "Tokens are limited in minutes of the clock.",
    tokenLimitersFrom((perMinute, { services: { clock } }) =>
      fixedTokens(perMinute, clock.monotonicUs() - (clock.nowMs() % 60_000) * 1_000),
    ),
  ),
  variant(
    "tokens.bucket",
    "Tokens come back evenly, and a minute of them is saved.",
    tokenLimitersFrom((perMinute) => tokensInBucket(perMinute)),
  ),
  variant(
    "tokens.bucket-half",
    "Tokens come back evenly, and half a minute of them is saved.",
    tokenLimitersFrom((perMinute) => tokensInBucket(perMinute, perMinute / 2)),
  ),
  variant(
    "tokens.given-back-late",
    "What was held back for a reply and not used is given back a second after its end.",
    wrap("tokensAtEnd", (next) => (call, closing) => {
      const tokens = next(call, closing);
      const { tokens: counted } = call;
      if (counted !== undefined && tokens !== undefined)
        setTimeout(() => {
          counted.tokens = tokens;
        }, 1_000).unref();
      return undefined;
    }),
  ),
  variant(
    "tokens.crossing-passes",
    "A request passes while any tokens remain, also one that takes more than that.",
    tokenLimitersFrom((perMinute) => {
      const exact = rollingTokens(perMinute);
      return { ...exact, waitUs: (_tokens, nowUs) => exact.waitUs(1, nowUs) };
    }),
  ),
  variant(
    "tokens.remaining-without-own",
    "The remaining tokens that a response states are those before the request.",
    onServed(
      ({ tokens }) => tokens !== undefined,
      (response, call) => {
        const remaining = Number(headerOf(response.headers, REMAINING_TOKENS)) + (call.tokens?.tokens ?? 0);
        return setHeader(REMAINING_TOKENS, String(remaining))(response, call);
      },
    ),
  ),
];
