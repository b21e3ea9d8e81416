import type { Account } from "../../accounts/account.ts";
import { loadGrid, loadMutation, type Mutation, mutation } from "../../change.ts";
import {
  byConnection,
  byDialect,
  byKey,
  byMode,
  byModel,
  limitersFrom,
  rateBy,
  unlimitedLimiter,
} from "../../edits/limit-scopes.ts";
import { multiTurn, onMessages, remembered, secondKey, streaming, type When } from "../../edits/when.ts";
import { type Apply, all, wrap } from "../../edits/wrap.ts";
import { fixedWindow } from "../../limiters/fixed-window.ts";
import { type RateLimiter, WINDOW_US } from "../../limiters/rate-limiter.ts";
import { slidingLog } from "../../limiters/sliding-log.ts";

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
  mutation("rate.upgrade-without-effect", {
    breaks: ["LIMIT-CHANGE"],
    summary: "A changed rate limit takes effect only after a restart.",
    apply: wrap("limiterOf", (next) => (key, call) => {
      const first = firstLimiters(call);
      const known = first.get(key.account) ?? next(key, call);
      first.set(key.account, known);
      return known;
    }),
    shownBy: "checks",
  }),
  ...loadGrid(["LIMIT-1", "LIMIT-RATE-2"], rateBy, {
    "rate.per-key": { summary: "Each key has a separate rate limit.", with: byKey },
    "rate.per-client": {
      summary: "Each User-Agent has a separate rate limit.",
      with: (call) => String(call.arrival.headers["user-agent"]),
      shownBy: "checks",
    },
    "rate.per-dialect": {
      // Not LIMIT-RATE-2: the traffic of one dialect stays within the limit.
      breaks: ["LIMIT-5"],
      summary: "Each dialect has a separate rate limit.",
      with: byDialect,
      mayBreak: ["LIMIT-RATE-2"],
    },
    "rate.per-model": { breaks: [...OVER, "LIMIT-1"], summary: "Each model has a separate rate limit.", with: byModel },
    "rate.per-connection": {
      breaks: [...NEVER, "LIMIT-1"],
      summary: "Each connection has a separate rate limit.",
      with: byConnection,
    },
    "rate.streams-apart": {
      breaks: OVER,
      summary: "Streaming and non-streaming requests have separate rate limits.",
      with: byMode,
    },
  }),
  ...loadGrid([...NEVER, "LIMIT-5"], unlimited, {
    "rate.never-enforced": {
      breaks: [...NEVER, "LIMIT-1", "LIMIT-2", "LIMIT-5"],
      summary: "The rate limit is never enforced.",
      with: () => true,
    },
    "rate.non-streaming-chat-free": {
      summary: "Non-streaming chat requests are not counted.",
      with: (call) => call.endpoint === "chat" && !call.wantsStream,
    },
    "rate.conversations-free": {
      breaks: NEVER,
      summary: "Multi-turn conversations are not counted.",
      with: multiTurn,
      shownBy: "checks",
    },
    "rate.streams-free": { breaks: [...NEVER, "STREAM-2"], summary: "Streams are not counted.", with: streaming },
    "rate.messages-free": { summary: "Requests on the messages endpoint are not counted.", with: onMessages },
    "rate.second-key-free": {
      breaks: [...NEVER, "LIMIT-1"],
      summary: "Requests of an account's second key are not counted.",
      with: secondKey,
    },
  }),
  ...loadGrid([...UNDER, "LIMIT-2"], (edit: (rpm: number) => number) => rateBy(undefined, edit), {
    "rate.tripled": {
      breaks: [...NEVER, "LIMIT-2"],
      summary: "Three times the rate limit is admitted.",
      with: (rpm) => rpm * 3,
    },
    "rate.tenfold": {
      breaks: [...NEVER, "LIMIT-2"],
      summary: "The rate limit applies per six seconds, not per minute.",
      with: (rpm) => rpm * 10,
    },
    "rate.halved": { summary: "Only half of the rate limit is admitted.", with: (rpm) => rpm / 2 },
    "rate.two-thirds": { summary: "Only two thirds of the rate limit are admitted.", with: (rpm) => (rpm * 2) / 3 },
    "load.tiers-mixed-up": {
      summary: "Accounts above 300 requests per minute get the smallest tier's limit.",
      with: (rpm) => Math.min(rpm, 300),
      shownBy: ["limits"],
    },
  }),
  loadMutation("rate.half-minute-window", {
    breaks: [...OVER, "LIMIT-2"],
    summary: "The window is half as long as specified.",
    apply: limitersFrom(
      () => "",
      (_call, rpm) => slidingLog(rpm, WINDOW_US / 2),
    ),
  }),
  loadMutation("rate.streams-by-quarter-minute", {
    breaks: [...OVER, "LIMIT-RATE-1", "STREAM-2"],
    summary: "Streams are admitted again 15 seconds after the last non-streaming request.",
    apply: (() => {
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
    shownBy: "checks",
  }),
  loadMutation("rate.second-window", {
    breaks: [...NEVER, "LIMIT-2"],
    summary: "The window is one second long.",
    apply: limitersFrom(
      () => "",
      (_call, rpm) => fixedWindow(rpm, 0, WINDOW_US / 60),
    ),
  }),
  loadMutation("rate.counts-twice", {
    breaks: [...UNDER, "LIMIT-2"],
    summary: "Every stream is counted twice.",
    apply: wrap("countRate", (next) => (limiter, call) => {
      next(limiter, call);
      if (call.wantsStream) next(limiter, call);
    }),
  }),
  loadMutation("rate.checked-before-counted", {
    breaks: [...OVER, "LIMIT-RATE-1", "ERR-429-RATE"],
    summary: "Requests are counted a moment after the check: a whole burst passes.",
    apply: wrap("countRate", (next) => (limiter, call) => {
      setTimeout(() => next(limiter, call), 80).unref();
    }),
  }),
  loadMutation("rate.accounts-share", {
    breaks: [...UNDER, "LIMIT-RATE-6", "LIMIT-1"],
    summary: "The traffic of all accounts counts toward each account's limit.",
    apply: (() => {
      const times = remembered<number[]>(() => []);
      return limitersFrom(
        () => "",
        (call, rpm) => sharedLimiter(times(call), rpm),
      );
    })(),
    mayBreak: ["LIMIT-2"],
  }),
];
