import { type Variant, variant } from "../change.ts";
import { clockAhead, dateIn } from "../edits/clock-edits.ts";
import { limitersFrom } from "../edits/limit-scopes.ts";
import { dropHeader, edits, setHeader } from "../edits/response-edits.ts";
import { inference } from "../edits/when.ts";
import { type Apply, all, DENIALS, onDenial, onServed, wrap } from "../edits/wrap.ts";
import { fixedWindow } from "../limits/fixed-window.ts";
import { paced } from "../limits/paced.ts";
import type { RateLimiter } from "../limits/rate-limiter.ts";
import { slidingLog } from "../limits/sliding-log.ts";
import { tokenBucket } from "../limits/token-bucket.ts";
import type { Call } from "../pipeline/behaviour.ts";
import type { GatewayResponse } from "../pipeline/response.ts";

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
    "The rate is limited by a sliding log.",
    limiter((rpm) => slidingLog(rpm)),
  ),
  variant(
    "limits.fixed-window",
    "The rate is limited in fixed windows.",
    limiter((rpm, call) => fixedWindow(rpm, call.services.clock.monotonicUs())),
  ),
  variant(
    "limits.clock-minute",
    "The rate is limited in minutes of the clock.",
    limiter((rpm, call) =>
      fixedWindow(rpm, call.services.clock.monotonicUs() - (call.services.clock.nowMs() % 60_000) * 1_000),
    ),
  ),
  variant(
    "limits.token-bucket",
    "The rate is limited by a bucket as large as the limit.",
    limiter((rpm) => tokenBucket(rpm)),
  ),
  variant(
    "limits.token-bucket-half",
    "The rate is limited by a bucket half as large as the limit.",
    limiter((rpm) => tokenBucket(rpm, Math.ceil(rpm / 2))),
  ),
  variant(
    "limits.token-bucket-tenth",
    "The rate is limited by a bucket a tenth as large as the limit.",
    limiter((rpm) => tokenBucket(rpm, Math.ceil(rpm / 10))),
  ),
  variant(
    "limits.paced",
    "Requests have to come evenly.",
    limiter((rpm) => paced(rpm)),
  ),
  variant(
    "limits.paced-loosely",
    "Requests have to come evenly, a second early at most.",
    limiter((rpm) => paced(rpm, 1_000_000)),
  ),
  variant(
    "limits.bad-requests-count",
    "Refused bodies and unknown models count toward the rate.",
    refusedCount(["invalid_request", "model_not_found", "unsupported_media_type", "request_too_large"]),
  ),
  variant(
    "limits.concurrency-denials-count",
    "Requests that are denied for concurrency count toward the rate.",
    refusedCount(["concurrency_limit_exceeded"]),
  ),
  variant(
    "limits.rate-denials-count",
    "Requests that are denied for the rate count toward it, and Retry-After includes it.",
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
    "Requests that are denied for money count toward the rate.",
    refusedCount(["insufficient_credits", "quota_exceeded", "budget_exhausted"]),
  ),
  variant(
    "limits.failures-free",
    "Requests whose provider failed do not count toward the rate.",
    wrap("countRate", (next) => (own, call) => {
      if (call.model?.id.startsWith("fail-") !== true) next(own, call);
    }),
  ),
  variant(
    "limits.listing-counts",
    "Listing the models counts toward the rate.",
    wrap("listingChecks", () => ["credentials", "rate"]),
  ),
  variant(
    "limits.listing-counts-as-in-flight",
    "Listing the models counts as in flight while it runs.",
    wrap("listingChecks", () => ["credentials", "concurrency"]),
  ),
  variant(
    "limits.concurrency-freed-late",
    "A client that leaves is noticed after a second.",
    wrap("release", (next) => (call, closing) => {
      if (closing.outcome === "interrupted") setTimeout(() => next(call, closing), 1_000).unref();
      else next(call, closing);
    }),
  ),
  variant(
    "limits.concurrency-freed-late-after-failure",
    "A request whose provider failed counts as in flight until 300 ms after its end.",
    wrap("release", (next) => (call, closing) => {
      if (closing.outcome === "failed") setTimeout(() => next(call, closing), 300).unref();
      else next(call, closing);
    }),
  ),
  variant(
    "limits.concurrency-freed-a-moment-late",
    "A request counts as in flight until 25 ms after its end.",
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
    "Retry-After is a date, and the gateway's clock is 90 s ahead.",
    all(
      changeRetryAfter((seconds) => dateIn(seconds, 90)),
      clockAhead(90),
    ),
  ),
  variant(
    "retry-after.http-date-clock-behind",
    "Retry-After is a date, and the gateway's clock is 90 s behind.",
    all(
      changeRetryAfter((seconds) => dateIn(seconds, -90)),
      clockAhead(-90),
    ),
  ),
  variant(
    "retry-after.two-seconds-more",
    "Retry-After is two seconds longer than the wait.",
    changeRetryAfter((seconds) => String(seconds + 2)),
  ),
  variant(
    "retry-after.always-a-minute",
    "Retry-After is a minute, whatever the wait.",
    changeRetryAfter(() => "60"),
  ),
  variant(
    "retry-after.leading-zero",
    "Retry-After has a leading zero.",
    changeRetryAfter((seconds) => String(seconds).padStart(3, "0")),
  ),
  variant(
    "retry-after.none-on-concurrency",
    "Concurrency denials have no wait.",
    wrap(
      "retryAfter",
      (next) => (refused, call) => (refused.reason === "concurrency_limit_exceeded" ? undefined : next(refused, call)),
    ),
    ["LIMIT-CONC-6"],
  ),
  variant(
    "rate-headers.none",
    "No response carries the state of the rate limit.",
    all(
      onDenial(DENIALS, () => true, dropHeader(...RATE_HEADERS)),
      onServed(() => true, dropHeader(...RATE_HEADERS)),
    ),
  ),
  variant(
    "rate-headers.on-denials-only",
    "Only rate denials carry the state of the rate limit.",
    onServed(() => true, dropHeader(...RATE_HEADERS)),
  ),
  variant(
    "rate-headers.with-reset",
    "Responses also say when the rate limit resets.",
    all(
      onServed(inference, setHeader("X-RateLimit-Reset", "60")),
      onDenial("rate_limit_exceeded", () => true, setHeader("RateLimit-Policy", '"default";q=100;w=60')),
    ),
  ),
  variant(
    "rate-headers.with-policies",
    "The limit that headers state is followed by its policies, as Envoy sends it.",
    all(
      onDenial("rate_limit_exceeded", () => true, withPolicies),
      onServed(inference, withPolicies),
    ),
  ),
  variant(
    "spend.settles-after-five-seconds",
    "Charges show in the tallies five seconds later.",
    wrap("settlingLagMs", () => () => 5_000),
  ),
  variant(
    "spend.settles-after-forty-seconds",
    "Charges show in the tallies forty seconds later.",
    wrap("settlingLagMs", () => () => 40_000),
  ),
  variant(
    "spend.abandoned-streams-free",
    "Streams whose client left cost nothing.",
    wrap("charge", (next) => (call, closing) => (closing.outcome === "interrupted" ? 0 : next(call, closing))),
  ),
  variant(
    "spend.abandoned-streams-cost-all",
    "Streams whose client left cost as much as complete ones.",
    wrap(
      "charge",
      (next) => (call, closing) =>
        next(call, closing.outcome === "interrupted" ? { ...closing, deliveredTokens: 1_000 } : closing),
    ),
  ),
];
