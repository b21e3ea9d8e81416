import type { Account, ApiKey } from "../accounts/account.ts";
import { utcDay } from "../accounts/utc-day.ts";
import type { Services } from "../services.ts";

/** An account in responses of the admin interface. */
export function accountView(account: Account, { clock }: Services) {
  return {
    id: account.id,
    name: account.name,
    limits: account.limits,
    balanceMicroUsd: account.balanceMicroUsd,
    reservedMicroUsd: account.reservedMicroUsd,
    inFlight: account.concurrency.held,
    peakInFlight: account.concurrency.peak,
    rateRemaining: account.limiter.remaining(clock.monotonicUs()),
    keys: account.keys.map((key) => key.id),
  };
}

/** A key in responses of the admin interface: without its text. */
export function keyView(key: ApiKey, { clock }: Services) {
  const nowUs = clock.monotonicUs();
  return {
    id: key.id,
    account: key.account.id,
    parent: key.parent?.id ?? null,
    revoked: key.revoked,
    capMicroUsd: key.capMicroUsd ?? null,
    budgetMicroUsd: key.budgetMicroUsd ?? null,
    spentTodayMicroUsd: key.spend.onDay(utcDay(clock.nowMs()), nowUs),
    spentMicroUsd: key.spend.inLifetime,
    reservedMicroUsd: key.spend.reserved,
  };
}
