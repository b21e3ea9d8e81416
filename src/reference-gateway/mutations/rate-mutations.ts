import type { Account } from "../accounts/account.ts";
import { loadMutation, type Mutation, mutation } from "../change.ts";
import {
  byConnection,
  byDialect,
  byKey,
  byMode,
  byModel,
  limitersFrom,
  rateBy,
  unlimitedLimiter,
} from "../edits/limit-scopes.ts";
import { multiTurn, onMessages, remembered, secondKey, streaming, type When } from "../edits/when.ts";
import { type Apply, all, wrap } from "../edits/wrap.ts";
import { fixedWindow } from "../limits/fixed-window.ts";
import { type RateLimiter, WINDOW_US } from "../limits/rate-limiter.ts";
import { slidingLog } from "../limits/sliding-log.ts";
import { TIER_RATE_MUTATIONS } from "./tier-rate-mutations.ts";

/** No rate limit for some requests: they are neither checked nor counted. */
const unlimited = (when: When): Apply =>
  wrap(
    "limiterOf",
    (next) => (key, call) =>
      when(call) ? { ...unlimitedLimiter, limitPerMinute: key.account.limits.rpm } : next(key, call),
  );

const OVER = ["LIMIT-RATE-2"];

const NEVER = ["LIMIT-RATE-1", "LIMIT-RATE-2", "ERR-429-RATE"];

const UNDER = ["LIMIT-RATE-3"];

/** A limiter that counts the traffic of all accounts together. */
function sharedLimiter(times: number[], rpm: number): RateLimiter {
  const waitUs = (nowUs: number) => {
    while (times.length > 0 && (times[0] as number) + WINDOW_US <= nowUs) times.shift();
    return times.length < rpm ? 0 : (times[times.length - rpm] as number) + WINDOW_US - nowUs;
  };
  return {
    limitPerMinute: rpm,
    waitUs,
    count: (nowUs) => times.push(nowUs),
    remaining: (nowUs) => (waitUs(nowUs) > 0 ? 0 : rpm - times.length),
  };
}

const firstLimiters = remembered(() => new Map<Account, RateLimiter>());

/** Which requests count toward the rate, and how many are admitted. */
export const RATE_MUTATIONS: readonly Mutation[] = [
  mutation(
    "rate.upgrade-without-effect",
    ["LIMIT-CHANGE"],
    "A changed rate limit takes effect only after a restart.",
    wrap("limiterOf", (next) => (key, call) => {
      const first = firstLimiters(call);
      const known = first.get(key.account) ?? next(key, call);
      first.set(key.account, known);
      return known;
    }),
  ),
  loadMutation("rate.per-key", ["LIMIT-1", "LIMIT-RATE-2"], "Each key has a separate rate limit.", rateBy(byKey)),
  loadMutation(
    "rate.per-client",
    ["LIMIT-1", "LIMIT-RATE-2"],
    "Each User-Agent has a separate rate limit.",
    rateBy((call) => String(call.arrival.headers["user-agent"])),
  ),
  loadMutation(
    "rate.per-dialect",
    // Not LIMIT-RATE-2: the traffic of one dialect stays within the limit.
    ["LIMIT-5"],
    "Each dialect has a separate rate limit.",
    rateBy(byDialect),
  ),
  loadMutation("rate.per-model", [...OVER, "LIMIT-1"], "Each model has a separate rate limit.", rateBy(byModel)),
  loadMutation(
    "rate.per-connection",
    [...NEVER, "LIMIT-1"],
    "Each connection has a separate rate limit.",
    rateBy(byConnection),
  ),
  loadMutation(
    "rate.streams-apart",
    OVER,
    "Streaming and non-streaming requests have separate rate limits.",
    rateBy(byMode),
  ),
  loadMutation(
    "rate.never-enforced",
    [...NEVER, "LIMIT-1", "LIMIT-2", "LIMIT-5"],
    "The rate limit is never enforced.",
    unlimited(() => true),
  ),
  loadMutation(
    "rate.non-streaming-chat-free",
    [...NEVER, "LIMIT-5"],
    "Non-streaming chat requests are not counted.",
    unlimited((call) => call.endpoint === "chat" && !call.wantsStream),
  ),
  loadMutation("rate.conversations-free", NEVER, "Multi-turn conversations are not counted.", unlimited(multiTurn)),
  loadMutation("rate.streams-free", [...NEVER, "STREAM-2"], "Streams are not counted.", unlimited(streaming)),
  loadMutation(
    "rate.messages-free",
    [...NEVER, "LIMIT-5"],
    "Requests on the messages endpoint are not counted.",
    unlimited(onMessages),
  ),
  loadMutation(
    "rate.second-key-free",
    [...NEVER, "LIMIT-1"],
    "Requests of an account's second key are not counted.",
    unlimited(secondKey),
  ),
  loadMutation(
    "rate.tripled",
    [...NEVER, "LIMIT-2"],
    "Three times the rate limit is admitted.",
    rateBy(undefined, (rpm) => rpm * 3),
  ),
  loadMutation(
    "rate.tenfold",
    [...NEVER, "LIMIT-2"],
    "The rate limit applies per six seconds, not per minute.",
    rateBy(undefined, (rpm) => rpm * 10),
  ),
  loadMutation(
    "rate.half-minute-window",
    [...OVER, "LIMIT-2"],
    "The window is half as long as specified.",
    limitersFrom(
      () => "",
      (_call, rpm) => slidingLog(rpm, WINDOW_US / 2),
    ),
  ),
  loadMutation(
    "rate.streams-by-quarter-minute",
    [...OVER, "LIMIT-RATE-1", "STREAM-2"],
    "Streams are admitted again 15 seconds after the last non-streaming request.",
    (() => {
      const lastMs = remembered(() => new WeakMap<object, number>());
      return all(
        wrap("countRate", (next) => (limiter, call) => {
          if (call.key !== undefined && !streaming(call)) lastMs(call).set(call.key.account, performance.now());
          next(limiter, call);
        }),
        wrap("check", (next) => (name, call) => {
          const refused = next(name, call);
          if (refused?.reason !== "rate_limit_exceeded" || !streaming(call) || call.key === undefined) return refused;
          return performance.now() - (lastMs(call).get(call.key.account) ?? 0) > 15_000 ? undefined : refused;
        }),
      );
    })(),
  ),
  loadMutation(
    "rate.second-window",
    [...NEVER, "LIMIT-2"],
    "The window is one second long.",
    limitersFrom(
      () => "",
      (_call, rpm) => fixedWindow(rpm, 0, WINDOW_US / 60),
    ),
  ),
  loadMutation(
    "rate.halved",
    [...UNDER, "LIMIT-2"],
    "Only half of the rate limit is admitted.",
    rateBy(undefined, (rpm) => rpm / 2),
  ),
  ...TIER_RATE_MUTATIONS,
  loadMutation(
    "rate.two-thirds",
    [...UNDER, "LIMIT-2"],
    "Only two thirds of the rate limit are admitted.",
    rateBy(undefined, (rpm) => (rpm * 2) / 3),
  ),
  loadMutation(
    "load.tiers-mixed-up",
    [...UNDER, "LIMIT-2"],
    "Accounts above 300 requests per minute get the smallest tier's limit.",
    rateBy(undefined, (rpm) => Math.min(rpm, 300)),
  ),
  loadMutation(
    "rate.counts-twice",
    [...UNDER, "LIMIT-2"],
    "Every stream is counted twice.",
    wrap("countRate", (next) => (limiter, call) => {
      next(limiter, call);
      if (call.wantsStream) next(limiter, call);
    }),
  ),
  loadMutation(
    "rate.checked-before-counted",
    [...OVER, "LIMIT-RATE-1", "ERR-429-RATE"],
    "Requests are counted a moment after the check: a whole burst passes.",
    wrap("countRate", (next) => (limiter, call) => {
      setTimeout(() => next(limiter, call), 80).unref();
    }),
  ),
  loadMutation(
    "rate.accounts-share",
    [...UNDER, "LIMIT-RATE-6", "LIMIT-1"],
    "The traffic of all accounts counts toward each account's limit.",
    (() => {
      const times = remembered<number[]>(() => []);
      return limitersFrom(
        () => "",
        (call, rpm) => sharedLimiter(times(call), rpm),
      );
    })(),
  ),
];
