import { ConcurrencyLimiter } from "../limiters/concurrency-limiter.ts";
import { makeLimiter } from "../limiters/limiter-kinds.ts";
import type { RateLimiter } from "../limiters/rate-limiter.ts";
import type { TokenLimiter } from "../limiters/token-limiter.ts";
import type { Call } from "../pipeline/behaviour.ts";
import { inference, remembered } from "./when.ts";
import { type Apply, wrap } from "./wrap.ts";

/** How an account's traffic is partitioned. */
export type Scope = (call: Call) => string;

export const byKey: Scope = (call) => call.key?.id ?? "";
export const byDialect: Scope = (call) => call.endpoint;
export const byModel: Scope = (call) => call.model?.id ?? "";
export const byMode: Scope = (call) => (call.wantsStream ? "streaming" : "non-streaming");
export const byConnection: Scope = (call) => String(call.arrival.connection.id);
const together: Scope = () => "";

/**
 * Replaces the account's limiter.
 *
 * @param scope one limiter per account and scope value.
 * @param change the enforced limit, computed from the account's; headers keep the account's.
 */
export function rateBy(scope: Scope = together, change: (rpm: number) => number = (rpm) => rpm): Apply {
  return limitersFrom(scope, (call, rpm) =>
    makeLimiter(call.services.accounts.limiter, Math.max(1, Math.round(change(rpm)))),
  );
}

/** Custom limiters, recreated when the account's limit changes. */
export function limitersFrom(scope: Scope, make: (call: Call, rpm: number) => RateLimiter): Apply {
  const limiters = remembered(() => new Map<string, RateLimiter>());
  return wrap("limiterOf", () => ({ account }, call) => {
    const name = `${account.id} ${account.limits.rpm} ${scope(call)}`;
    const known = limiters(call).get(name);
    if (known !== undefined) return known;
    const made = { ...make(call, account.limits.rpm), limitPerMinute: account.limits.rpm };
    limiters(call).set(name, made);
    return made;
  });
}

/**
 * Replaces the account's token limiter, if it has one.
 *
 * @param make from the account's limit, which headers keep.
 */
export function tokenLimitersFrom(make: (perMinute: number, call: Call) => TokenLimiter): Apply {
  const limiters = remembered(() => new Map<string, TokenLimiter>());
  return wrap("tokenLimiterOf", (next) => (key, call) => {
    const own = next(key, call);
    const known = limiters(call).get(key.account.id);
    if (own === undefined || known !== undefined) return known;
    const made = { ...make(own.tokensPerMinute, call), tokensPerMinute: own.tokensPerMinute };
    limiters(call).set(key.account.id, made);
    return made;
  });
}

/** Replaces the account's concurrency limit; recreated when that changes. */
export function concurrencyBy(scope: Scope = together, change: (limit: number) => number = (limit) => limit): Apply {
  const limiters = remembered(() => new Map<string, ConcurrencyLimiter>());
  return wrap("concurrencyOf", () => ({ account }, call) => {
    const name = `${account.id} ${account.limits.inFlight} ${scope(call)}`;
    const known = limiters(call).get(name);
    if (known !== undefined) return known;
    const made = new ConcurrencyLimiter(Math.max(1, Math.round(change(account.limits.inFlight))));
    limiters(call).set(name, made);
    return made;
  });
}

/** An inference request with a valid key, whose account is at its concurrency limit. */
export function isAtConcurrencyLimit(call: Call): boolean {
  if (!inference(call) || call.arrival.purpose !== "serve") return false;
  if (call.behaviour.check("credentials", call) !== undefined || call.key === undefined) return false;
  return call.behaviour.concurrencyOf(call.key, call).full;
}

/** Never reached. */
export const UNLIMITED = 1_000_000;

export const unlimitedLimiter: RateLimiter = {
  limitPerMinute: UNLIMITED,
  waitUs: () => 0,
  count: () => {},
  remaining: (_nowUs) => UNLIMITED,
};
