import { type Account, isLoopback, type Target } from "../target/index.ts";
import type { Schedule } from "./schedule.ts";

/** The limit that a limit check reaches: the request rate, or the number of requests in flight. */
export type LimitKind = "rate" | "concurrency";

/** An account whose limit a run may reach. */
export interface LimitedAccount extends Account {
  /** Whether all other checks use this account, so that they must not run at the same time. */
  readonly shared: boolean;
}

/** A higher rate takes more requests than a conformance run should cost; load runs reach it. */
const REACHABLE_RPM = 1_200;
/** Maximum number of streams that a conformance run holds open. */
const REACHABLE_SLOTS = 256;

/** Whether a run may reach the limits of an account that is not reserved for this: that of `valid`, which others may use. */
export function mayReachAnyLimit({ baseUrl, authorized }: Pick<Target, "baseUrl" | "authorized">): boolean {
  return isLoopback(baseUrl) || authorized;
}

/**
 * Picks the account for a kind of limit check: the smallest limit decides fastest. Reserved accounts come first, then the
 * account of `valid` if its limits are known and may be reached. For the concurrency limit, the rate limit must be high enough
 * not to be reached first.
 */
export function limitedFor(target: Target, kind: LimitKind): LimitedAccount | undefined {
  const aside = target.limited.map((account) => ({ ...account, shared: false }));
  const { valid, second } = target.keys;
  const main =
    target.limits === undefined || !mayReachAnyLimit(target)
      ? []
      : [{ key: valid, second, limits: target.limits, shared: true }];
  const fits = (account: LimitedAccount) => {
    const { rpm, inFlight } = account.limits;
    return kind === "rate" ? rpm <= REACHABLE_RPM : inFlight <= REACHABLE_SLOTS && rpm >= inFlight * 4;
  };
  const size = ({ limits }: LimitedAccount) => (kind === "rate" ? limits.rpm : limits.inFlight / limits.rpm);
  // Without a rate limit the sizes are all 0.
  const bySize = (a: LimitedAccount, b: LimitedAccount) => size(a) - size(b) || a.limits.inFlight - b.limits.inFlight;
  const smallest = (accounts: LimitedAccount[]) => accounts.filter(fits).sort(bySize)[0];
  return smallest(aside) ?? smallest(main);
}

/** How a check that reaches an account's limit is scheduled: exclusively if all other checks use that account. */
export function scheduleOn(account: Pick<LimitedAccount, "key" | "shared"> | undefined): Schedule {
  return { resource: `account ${account?.key.name ?? ""}`, order: account?.shared === true ? "exclusive" : "parallel" };
}
