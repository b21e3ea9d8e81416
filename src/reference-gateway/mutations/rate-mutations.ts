import { loadMutation, type Mutation } from "../change.ts";
import { cutOff } from "../edits/connection-edits.ts";
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
import {
  always,
  every,
  inference,
  multiTurn,
  onMessages,
  remembered,
  secondKey,
  streaming,
  type When,
} from "../edits/when.ts";
import { type Apply, all, onDenial, overlook, wrap } from "../edits/wrap.ts";
import { fixedWindow } from "../limits/fixed-window.ts";
import { type RateLimiter, WINDOW_US } from "../limits/rate-limiter.ts";
import { slidingLog } from "../limits/sliding-log.ts";
import { refusal } from "../pipeline/refusal.ts";
import { TIER_RATE_MUTATIONS } from "./tier-rate-mutations.ts";

/** No rate limit for some requests: they are neither asked nor counted. */
const unlimited = (when: When): Apply =>
  wrap(
    "limiterOf",
    (next) => (key, call) =>
      when(call) ? { ...unlimitedLimiter, limitPerMinute: key.account.limits.rpm } : next(key, call),
  );

const OVER = ["LIMIT-RATE-2"];
const NEVER = ["LIMIT-RATE-1", "LIMIT-RATE-2", "ERR-429-RATE"];
const UNDER = ["LIMIT-RATE-3"];

/** A limiter that looks at the traffic of every account together. */
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

/** Whose requests are counted, and how many are let through. */
export const RATE_MUTATIONS: readonly Mutation[] = [
  loadMutation("rate.per-key", ["LIMIT-1", "LIMIT-RATE-2"], "Each key has a rate limit of its own.", rateBy(byKey)),
  loadMutation(
    "rate.per-client",
    ["LIMIT-1", "LIMIT-RATE-2"],
    "Each User-Agent has a rate limit of its own.",
    rateBy((call) => String(call.arrival.headers["user-agent"])),
  ),
  loadMutation(
    "rate.per-dialect",
    ["LIMIT-5", "LIMIT-RATE-2"],
    "Each dialect has a rate limit of its own.",
    rateBy(byDialect),
  ),
  loadMutation("rate.per-model", [...OVER, "LIMIT-1"], "Each model has a rate limit of its own.", rateBy(byModel)),
  loadMutation(
    "rate.denials-prolong",
    ["LIMIT-RATE-6"],
    "Denied requests count toward the rate, and Retry-After does not include it.",
    wrap("check", (next) => {
      const retryAt = remembered(() => new WeakMap<object, number>());
      return (name, call) => {
        const refused = next(name, call);
        if (name !== "rate" || refused?.waitMs === undefined || call.key === undefined) return refused;
        const nowMs = performance.now();
        const known = retryAt(call).get(call.key.account) ?? 0;
        const untilMs = known > nowMs ? known : nowMs + refused.waitMs;
        retryAt(call).set(call.key.account, untilMs);
        call.behaviour.limiterOf(call.key, call).count(call.services.clock.monotonicUs());
        return { ...refused, waitMs: untilMs - nowMs };
      };
    }),
  ),
  loadMutation(
    "rate.one-denied-all-denied",
    ["LIMIT-1", "LIMIT-RATE-3"],
    "While one account is denied for its rate, every account is.",
    wrap("check", (next) => {
      const last = remembered(() => ({ untilMs: 0 }));
      return (name, call) => {
        const refused = next(name, call);
        if (refused?.reason === "rate_limit_exceeded") last(call).untilMs = performance.now() + 1_000;
        else if (name === "rate" && performance.now() < last(call).untilMs)
          return refusal("rate_limit_exceeded", { waitMs: 1_000 });
        return refused;
      };
    }),
  ),
  loadMutation(
    "rate.per-connection",
    [...NEVER, "LIMIT-1"],
    "Each connection has a rate limit of its own.",
    rateBy(byConnection),
  ),
  loadMutation(
    "rate.streams-apart",
    OVER,
    "Streams and non-streaming requests have a rate limit each.",
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
    "Non-streaming requests of the chat dialect are not counted.",
    unlimited((call) => call.endpoint === "chat" && !call.wantsStream),
  ),
  loadMutation(
    "rate.conversations-free",
    NEVER,
    "Conversations of several turns are not counted.",
    unlimited(multiTurn),
  ),
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
    "Three times the rate limit is let through.",
    rateBy(undefined, (rpm) => rpm * 3),
  ),
  loadMutation(
    "rate.tenfold",
    [...NEVER, "LIMIT-2"],
    "The limit is read as requests per six seconds.",
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
    "Streams are let in again a quarter of a minute after the last non-streaming request.",
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
    "rate.emptied-by-denials",
    [...OVER, "LIMIT-RATE-6"],
    "Every twentieth denial for the rate empties the account's window.",
    (() => {
      const kept = remembered(() => new WeakMap<object, { limiter: RateLimiter; denied: number }>());
      return all(
        wrap("limiterOf", () => (key, call) => {
          const { account } = key;
          const state = kept(call).get(account) ?? { limiter: slidingLog(account.limits.rpm, WINDOW_US), denied: 0 };
          if (state.denied >= 20)
            Object.assign(state, { limiter: slidingLog(account.limits.rpm, WINDOW_US), denied: 0 });
          kept(call).set(account, state);
          return state.limiter;
        }),
        onDenial("rate_limit_exceeded", always, (response, call) => {
          const state = call.key === undefined ? undefined : kept(call).get(call.key.account);
          if (state !== undefined) state.denied += 1;
          return response;
        }),
      );
    })(),
  ),
  loadMutation(
    "rate.second-window",
    [...NEVER, "LIMIT-2"],
    "The window is a second long.",
    limitersFrom(
      () => "",
      (_call, rpm) => fixedWindow(rpm, 0, WINDOW_US / 60),
    ),
  ),
  loadMutation(
    "rate.halved",
    [...UNDER, "LIMIT-2"],
    "Half of the rate limit is let through.",
    rateBy(undefined, (rpm) => rpm / 2),
  ),
  ...TIER_RATE_MUTATIONS,
  loadMutation(
    "rate.two-thirds",
    [...UNDER, "LIMIT-2"],
    "Two thirds of the rate limit are let through.",
    rateBy(undefined, (rpm) => (rpm * 2) / 3),
  ),
  loadMutation(
    "rate.denied-while-five-run",
    ["LIMIT-RATE-3"],
    "Whoever comes while five of the account's requests are running is denied for the rate.",
    wrap(
      "check",
      (next) => (name, call) =>
        next(name, call) ??
        (name === "rate" && (call.key?.account.concurrency.held ?? 0) >= 5
          ? refusal("rate_limit_exceeded", { waitMs: 1_000 })
          : undefined),
    ),
  ),
  loadMutation(
    "load.tiers-mixed-up",
    [...UNDER, "LIMIT-2"],
    "Accounts above 300 per minute are limited like the smallest tier.",
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
    "Requests are counted a moment after they were checked: all of a burst passes.",
    wrap("countRate", (next) => (limiter, call) => {
      setTimeout(() => next(limiter, call), 80).unref();
    }),
  ),
  loadMutation(
    "rate.accounts-share",
    [...UNDER, "LIMIT-RATE-6", "LIMIT-1"],
    "The traffic of every account counts toward each account's limit.",
    (() => {
      const times = remembered<number[]>(() => []);
      return limitersFrom(
        () => "",
        (call, rpm) => sharedLimiter(times(call), rpm),
      );
    })(),
  ),
  loadMutation(
    "rate.phantom-denials",
    [...UNDER, "LIMIT-RATE-6", "ERR-HDR-1"],
    "Every fortieth request is denied for its rate, far below the limit.",
    wrap("check", (next) => {
      const unlucky = every(40);
      return (name, call) =>
        next(name, call) ??
        (name === "rate" && unlucky(call) ? refusal("rate_limit_exceeded", { waitMs: 1_000 }) : undefined);
    }),
  ),
  loadMutation(
    "rate.penalty",
    ["LIMIT-RATE-6"],
    "After a denial the account is denied for two minutes, whatever Retry-After said.",
    wrap("check", (next) => {
      const punished = remembered(() => new Map<string, number>());
      return (name, call) => {
        const refused = next(name, call);
        if (name !== "rate" || call.key === undefined) return refused;
        const nowUs = call.services.clock.monotonicUs();
        const since = punished(call).get(call.key.account.id);
        if (refused !== undefined) {
          if (since === undefined) punished(call).set(call.key.account.id, nowUs);
          return refused;
        }
        const still = since !== undefined && nowUs - since < 2 * WINDOW_US;
        return still ? refusal("rate_limit_exceeded", { waitMs: 1_000 }) : undefined;
      };
    }),
  ),
  loadMutation(
    "rate.slows-down-instead",
    NEVER,
    "Requests over the rate limit are served late instead of being denied.",
    all(
      overlook("rate_limit_exceeded"),
      wrap("seal", (next) => (response, call) => {
        const parcel = next(response, call);
        if (call.key === undefined || !inference(call)) return parcel;
        const waiting = call.behaviour.limiterOf(call.key, call).waitUs(call.services.clock.monotonicUs()) > 0;
        return waiting ? { ...parcel, afterMs: parcel.afterMs + 1_500 } : parcel;
      }),
    ),
  ),
  loadMutation(
    "rate.drops-connection",
    ["LIMIT-RATE-1", "LIMIT-RATE-4", "ERR-429-RATE"],
    "Requests over the rate limit get no answer: the connection is dropped.",
    wrap("deliver", (next) => (parcel, call, delivery) => {
      if (call.refused?.reason === "rate_limit_exceeded") cutOff(delivery, "reset");
      else next(parcel, call, delivery);
    }),
  ),
  loadMutation(
    "rate.denial-never-sent",
    ["LIMIT-RATE-1", "LIMIT-RATE-4", "ERR-429-RATE", "ANSWER-IN-TIME"],
    "Requests over the rate limit wait for an answer that never comes.",
    onDenial(
      "rate_limit_exceeded",
      () => true,
      (response) => ({ ...response, afterMs: 3_600_000 }),
    ),
  ),
];
