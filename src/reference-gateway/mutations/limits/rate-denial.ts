import { loadMutation, type Mutation } from "../../change.ts";
import { cutOff } from "../../edits/connection-edits.ts";
import { always, every, inference, remembered } from "../../edits/when.ts";
import { admitDespite, all, onDenial, wrap } from "../../edits/wrap.ts";
import { type RateLimiter, WINDOW_US } from "../../limiters/rate-limiter.ts";
import { slidingLog } from "../../limiters/sliding-log.ts";
import { refusal } from "../../pipeline/refusal.ts";

const OVER = ["LIMIT-RATE-2"];

const NEVER = ["LIMIT-RATE-1", "LIMIT-RATE-2", "ERR-429-RATE"];

const UNDER = ["LIMIT-RATE-3"];

/** When a request is denied by the rate limit, and side effects of a denial. */
export const RATE_DENIAL_MUTATIONS: readonly Mutation[] = [
  loadMutation("rate.denials-prolong", {
    breaks: ["LIMIT-RATE-6"],
    summary: "Denied requests count toward the rate limit, and Retry-After ignores them.",
    apply: wrap("check", (next) => {
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
  }),
  loadMutation("rate.one-denied-all-denied", {
    breaks: ["LIMIT-1", "LIMIT-RATE-3"],
    summary: "While one account is rate limited, every account is.",
    apply: wrap("check", (next) => {
      const last = remembered(() => ({ untilMs: 0 }));
      return (name, call) => {
        const refused = next(name, call);
        if (refused?.reason === "rate_limit_exceeded") last(call).untilMs = performance.now() + 1_000;
        else if (name === "rate" && performance.now() < last(call).untilMs)
          return refusal("rate_limit_exceeded", { waitMs: 1_000 });
        return refused;
      };
    }),
    mayBreak: ["ERR-429-CONC", "ERR-HDR-1", "STREAM-2"],
  }),
  loadMutation("rate.emptied-by-denials", {
    breaks: [...OVER, "LIMIT-RATE-6"],
    summary: "Every twentieth rate denial resets the account's window.",
    apply: (() => {
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
    shownBy: "checks",
  }),
  loadMutation("rate.denied-while-five-run", {
    breaks: UNDER,
    summary: "A request that arrives while five of the account's are in flight gets a rate denial.",
    apply: wrap(
      "check",
      (next) => (name, call) =>
        next(name, call) ??
        (name === "rate" && (call.key?.account.concurrency.held ?? 0) >= 5
          ? refusal("rate_limit_exceeded", { waitMs: 1_000 })
          : undefined),
    ),
  }),
  loadMutation("rate.phantom-denials", {
    breaks: [...UNDER, "LIMIT-RATE-6", "ERR-HDR-1"],
    summary: "Every fortieth request gets a rate denial, far below the limit.",
    apply: wrap("check", (next) => {
      const unlucky = every(40);
      return (name, call) =>
        next(name, call) ??
        (name === "rate" && unlucky(call) ? refusal("rate_limit_exceeded", { waitMs: 1_000 }) : undefined);
    }),
    mayBreak: ["ERR-429-CONC"],
  }),
  loadMutation("rate.penalty", {
    breaks: ["LIMIT-RATE-6"],
    summary: "After a denial the account is denied for two minutes, whatever Retry-After says.",
    apply: wrap("check", (next) => {
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
    mayBreak: ["LIMIT-CHANGE"],
  }),
  loadMutation("rate.slows-down-instead", {
    breaks: NEVER,
    summary: "Requests over the rate limit are delayed instead of denied.",
    apply: all(
      admitDespite("rate_limit_exceeded"),
      wrap("seal", (next) => (response, call) => {
        const parcel = next(response, call);
        if (call.key === undefined || !inference(call)) return parcel;
        const waiting = call.behaviour.limiterOf(call.key, call).waitUs(call.services.clock.monotonicUs()) > 0;
        return waiting ? { ...parcel, afterMs: parcel.afterMs + 1_500 } : parcel;
      }),
    ),
  }),
  loadMutation("rate.drops-connection", {
    breaks: ["LIMIT-RATE-1", "LIMIT-RATE-4", "ERR-429-RATE"],
    summary: "Requests over the rate limit get no response: the connection is dropped.",
    apply: wrap("deliver", (next) => (parcel, call, delivery) => {
      if (call.refused?.reason === "rate_limit_exceeded") cutOff(delivery, "reset");
      else next(parcel, call, delivery);
    }),
  }),
  loadMutation("rate.denial-never-sent", {
    breaks: ["LIMIT-RATE-1", "LIMIT-RATE-4", "ERR-429-RATE", "ANSWER-IN-TIME"],
    summary: "Requests over the rate limit never get a response.",
    apply: onDenial(
      "rate_limit_exceeded",
      () => true,
      (response) => ({ ...response, afterMs: 3_600_000 }),
    ),
  }),
];
