import { type Variant, variant } from "../../change.ts";
import { clockAhead, dateIn } from "../../edits/clock-edits.ts";
import { limitersFrom } from "../../edits/limit-scopes.ts";
import { dropHeader, edits, setHeader } from "../../edits/replies/response-edits.ts";
import { inference } from "../../edits/when.ts";
import { type Apply, all, onDenial, onServed, wrap } from "../../edits/wrap.ts";
import { fixedWindow } from "../../limiters/fixed-window.ts";
import { paced } from "../../limiters/paced.ts";
import type { RateLimiter } from "../../limiters/rate-limiter.ts";
import { slidingLog } from "../../limiters/sliding-log.ts";
import { tokenBucket } from "../../limiters/token-bucket.ts";
import type { Call } from "../../pipeline/behaviour.ts";
import { DENIALS } from "../../pipeline/refusal.ts";
import type { GatewayResponse } from "../../pipeline/response.ts";

const limiter = (make: (rpm: number, call: Call) => RateLimiter): Apply =>
  limitersFrom(
    () => "",
    (call, rpm) => make(rpm, call),
  );

/** Requests that were refused for a reason other than the rate count as well. */
const refusedCount = (reasons: readonly string[]): Apply =>
  wrap("refuse", (next) => (refused, call) => {
    if (call.key !== undefined && inference(call) && reasons.includes(refused.reason)) {
      call.behaviour.limiterOf(call.key, call).count(call.services.clock.monotonicUs());
    }
    return next(refused, call);
  });

const TEMPORARY = ["rate_limit_exceeded", "concurrency_limit_exceeded"];

/** Changes Retry-After of temporary denials, never to a shorter wait. */
const changeRetryAfter = (change: (seconds: number) => string): Apply =>
  wrap("retryAfter", (next) => (refused, call) => {
    const value = next(refused, call);
    return value === undefined || !TEMPORARY.includes(refused.reason) ? value : change(Number(value));
  });

const RATE_HEADERS = ["X-RateLimit-Limit", "X-RateLimit-Remaining"];

const withPolicies = (response: GatewayResponse, call: Call): GatewayResponse => {
  const rpm = call.key?.account.limits.rpm;
  if (rpm === undefined) return response;
  const limit = `${rpm}, ${rpm};w=60;name="per account, per minute", ${rpm * 60};w=3600`;
  return edits(setHeader("X-RateLimit-Limit", limit), setHeader("X-RateLimit-Reset", "60"))(response, call);
};

/** Limiters, Retry-After and tallies of every kind that the interface allows. */
export const LIMIT_VARIANTS: readonly Variant[] = [
  variant(
    "limits.sliding-log",
    "The rate limit is a sliding log.",
    limiter((rpm) => slidingLog(rpm)),
  ),
  variant(
    "limits.fixed-window",
    "The rate limit has fixed windows.",
    limiter((rpm, call) => fixedWindow(rpm, call.services.clock.monotonicUs())),
  ),
  variant(
    "limits.clock-minute",
    "The rate limit is per clock minute.",
    limiter((rpm, call) =>
      fixedWindow(rpm, call.services.clock.monotonicUs() - (call.services.clock.nowMs() % 60_000) * 1_000),
    ),
  ),
  variant(
    "limits.token-bucket",
    "The rate limit is a token bucket as large as the limit.",
    limiter((rpm) => tokenBucket(rpm)),
  ),
  variant(
    "limits.token-bucket-half",
    "The rate limit is a token bucket half as large as the limit.",
    limiter((rpm) => tokenBucket(rpm, Math.ceil(rpm / 2))),
  ),
  variant(
    "limits.token-bucket-tenth",
    "The rate limit is a token bucket a tenth as large as the limit.",
    limiter((rpm) => tokenBucket(rpm, Math.ceil(rpm / 10))),
  ),
  variant(
    "limits.paced",
    "Requests must be evenly spaced.",
    limiter((rpm) => paced(rpm)),
  ),
  variant(
    "limits.paced-loosely",
    "Requests must be evenly spaced, at most a second early.",
    limiter((rpm) => paced(rpm, 1_000_000)),
  ),
  variant(
    "limits.bad-requests-count",
    "Invalid bodies and unknown models count toward the rate limit.",
    refusedCount(["invalid_request", "model_not_found", "unsupported_media_type", "request_too_large"]),
  ),
  variant(
    "limits.concurrency-denials-count",
    "Concurrency denials count toward the rate limit.",
    refusedCount(["concurrency_limit_exceeded"]),
  ),
  variant(
    "limits.rate-denials-count",
    "Rate denials count toward the rate limit, and Retry-After includes them.",
    wrap("check", (next) => (name, call) => {
      const refused = next(name, call);
      if (name !== "rate" || refused === undefined || call.key === undefined) return refused;
      const limiter = call.behaviour.limiterOf(call.key, call);
      const nowUs = call.services.clock.monotonicUs();
      limiter.count(nowUs);
      return { ...refused, waitMs: limiter.waitUs(nowUs) / 1_000 };
    }),
  ),
  variant(
    "limits.money-denials-count",
    "Spending denials count toward the rate limit.",
    refusedCount(["insufficient_credits", "quota_exceeded", "budget_exhausted"]),
  ),
  variant(
    "limits.failures-free",
    "Requests whose provider failed do not count toward the rate limit.",
    wrap("countRate", (next) => (own, call) => {
      if (call.model?.id.startsWith("fail-") !== true) next(own, call);
    }),
  ),
  variant(
    "limits.listing-counts",
    "Listing the models counts toward the rate limit.",
    wrap("listingChecks", () => ["credentials", "rate"]),
  ),
  variant(
    "limits.listing-counts-as-in-flight",
    "Listing the models counts as in flight while it runs.",
    wrap("listingChecks", () => ["credentials", "concurrency"]),
  ),
  variant(
    "limits.concurrency-freed-late",
    "A client disconnect is noticed after a second.",
    wrap("release", (next) => (call, closing) => {
      if (closing.outcome === "interrupted") setTimeout(() => next(call, closing), 1_000).unref();
      else next(call, closing);
    }),
  ),
  variant(
    "limits.concurrency-freed-late-after-failure",
    "A request whose provider failed counts as in flight for 300 ms after it ends.",
    wrap("release", (next) => (call, closing) => {
      if (closing.outcome === "failed") setTimeout(() => next(call, closing), 300).unref();
      else next(call, closing);
    }),
  ),
  variant(
    "limits.concurrency-freed-a-moment-late",
    "A request counts as in flight for 25 ms after it ends.",
    wrap("release", (next) => (call, closing) => {
      setTimeout(() => next(call, closing), 25).unref();
    }),
  ),
  variant(
    "retry-after.http-date",
    "Retry-After is a date.",
    changeRetryAfter((seconds) => dateIn(seconds)),
  ),
  variant(
    "retry-after.http-date-clock-ahead",
    "Retry-After is a date, and the gateway's clock is 90 s fast.",
    all(
      changeRetryAfter((seconds) => dateIn(seconds, 90)),
      clockAhead(90),
    ),
  ),
  variant(
    "retry-after.http-date-clock-behind",
    "Retry-After is a date, and the gateway's clock is 90 s slow.",
    all(
      changeRetryAfter((seconds) => dateIn(seconds, -90)),
      clockAhead(-90),
    ),
  ),
  variant(
    "retry-after.two-seconds-more",
    "Retry-After is two seconds longer than needed.",
    changeRetryAfter((seconds) => String(seconds + 2)),
  ),
  variant(
    "retry-after.always-a-minute",
    "Retry-After is always a minute.",
    changeRetryAfter(() => "60"),
  ),
  variant(
    "retry-after.leading-zero",
    "Retry-After has a leading zero.",
    changeRetryAfter((seconds) => String(seconds).padStart(3, "0")),
  ),
  variant(
    "retry-after.none-on-concurrency",
    "Concurrency denials have no Retry-After.",
    wrap(
      "retryAfter",
      (next) => (refused, call) => (refused.reason === "concurrency_limit_exceeded" ? undefined : next(refused, call)),
    ),
    ["LIMIT-CONC-6"],
  ),
  variant(
    "rate-headers.none",
    "No response has rate limit headers.",
    all(
      onDenial(DENIALS, () => true, dropHeader(...RATE_HEADERS)),
      onServed(() => true, dropHeader(...RATE_HEADERS)),
    ),
  ),
  variant(
    "rate-headers.on-denials-only",
    "Only rate denials have rate limit headers.",
    onServed(() => true, dropHeader(...RATE_HEADERS)),
  ),
  variant(
    "rate-headers.with-reset",
    "Responses also have the rate limit's reset time.",
    all(
      onServed(inference, setHeader("X-RateLimit-Reset", "60")),
      onDenial("rate_limit_exceeded", () => true, setHeader("RateLimit-Policy", '"default";q=100;w=60')),
    ),
  ),
  variant(
    "rate-headers.with-policies",
    "The limit header also has the policies, as in Envoy.",
    all(
      onDenial("rate_limit_exceeded", () => true, withPolicies),
      onServed(inference, withPolicies),
    ),
  ),
  variant(
    "spend.settles-after-five-seconds",
    "Charges appear in the tallies five seconds late.",
    wrap("settlingLagMs", () => () => 5_000),
  ),
  variant(
    "spend.settles-after-forty-seconds",
    "Charges appear in the tallies forty seconds late.",
    wrap("settlingLagMs", () => () => 40_000),
  ),
  variant(
    "spend.abandoned-streams-free",
    "Streams whose client disconnected are free.",
    wrap("charge", (next) => (call, closing) => (closing.outcome === "interrupted" ? 0 : next(call, closing))),
  ),
  variant(
    "spend.abandoned-streams-cost-all",
    "Streams whose client disconnected cost as much as complete ones.",
    wrap(
      "charge",
      (next) => (call, closing) =>
        next(call, closing.outcome === "interrupted" ? { ...closing, deliveredTokens: 1_000 } : closing),
    ),
  ),
];
