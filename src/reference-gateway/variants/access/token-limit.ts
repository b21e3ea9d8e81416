import { type Variant, variant } from "../../change.ts";
import { tokenLimitersFrom } from "../../edits/limit-scopes.ts";
import { setHeader } from "../../edits/replies/response-edits.ts";
import { onServed, wrap } from "../../edits/wrap.ts";
import { fixedTokens, REMAINING_TOKENS, rollingTokens, tokensInBucket } from "../../limiters/token-limiter.ts";
import { headerOf } from "../../pipeline/response.ts";

/** How a token limit may count; for accounts that have one. */
export const TOKEN_VARIANTS: readonly Variant[] = [
  variant(
    "tokens.rolling-window",
    "Tokens are limited in a sliding one-minute window.",
    tokenLimitersFrom(rollingTokens),
  ),
  variant(
    "tokens.fixed-window",
    "Tokens are limited in fixed windows that start at the first request.",
    tokenLimitersFrom((perMinute, { services }) => fixedTokens(perMinute, services.clock.monotonicUs())),
  ),
  variant(
    "tokens.clock-minute",
    "Tokens are limited per clock minute.",
    tokenLimitersFrom((perMinute, { services: { clock } }) =>
      fixedTokens(perMinute, clock.monotonicUs() - (clock.nowMs() % 60_000) * 1_000),
    ),
  ),
  variant(
    "tokens.bucket",
    "Tokens refill evenly, up to those of a minute.",
    tokenLimitersFrom((perMinute) => tokensInBucket(perMinute)),
  ),
  variant(
    "tokens.bucket-half",
    "Tokens refill evenly, up to those of half a minute.",
    tokenLimitersFrom((perMinute) => tokensInBucket(perMinute, perMinute / 2)),
  ),
  variant(
    "tokens.given-back-late",
    "Tokens reserved for a reply but not used are returned a second after it ends.",
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
    "A request is admitted while any tokens remain, even if it uses more.",
    tokenLimitersFrom((perMinute) => {
      const exact = rollingTokens(perMinute);
      return { ...exact, waitUs: (_tokens, nowUs) => exact.waitUs(1, nowUs) };
    }),
  ),
  variant(
    "tokens.remaining-without-own",
    "The remaining tokens in a response do not include its own request.",
    onServed(
      ({ tokens }) => tokens !== undefined,
      (response, call) => {
        const remaining = Number(headerOf(response.headers, REMAINING_TOKENS)) + (call.tokens?.tokens ?? 0);
        return setHeader(REMAINING_TOKENS, String(remaining))(response, call);
      },
    ),
  ),
];
