import { UsageError } from "../core/index.ts";
import type { Account, KeyTerms } from "./accounts/account.ts";
import type { AccountStore } from "./accounts/account-store.ts";
import { type Limits, TIER_NAMES, TIERS, type Tier } from "./accounts/tiers.ts";
import { utcDay } from "./accounts/utc-day.ts";
import type { GatewayClock } from "./gateway-clock.ts";
import { MODELS } from "./providers/model-table.ts";

/** Two keys of one account that was set aside for limit checks. */
export interface LimitedAccount {
  readonly key: string;
  readonly second: string;
  readonly limits: Limits;
}

/** Texts of the keys that a gateway has from its start, and what they are good for. */
export interface ReadyAccounts {
  readonly keys: Readonly<Record<ReadyKeyName, string>>;
  readonly limited: readonly LimitedAccount[];
  readonly tiers: Readonly<Record<Tier, { readonly key: string; readonly second: string }>>;
  /** Micro-dollars that the small cap and the small budget amount to, and roughly how many minimal requests that is. */
  readonly spending: {
    readonly capMicroUsd: number;
    readonly budgetMicroUsd: number;
    readonly minimalRequests: number;
  };
}

type ReadyKeyName =
  | "valid"
  | "second"
  | "revoked"
  | "capped"
  | "cappable"
  | "childExhausted"
  | "childSmall"
  | "empty"
  | "emptySecond"
  | "other";

/** A thousand dollars: no run of ours uses that up. */
const AMPLE_MICRO_USD = 1_000_000_000;

/** Minimal requests that the small cap and the small budget allow. */
const MINIMAL_REQUESTS = 40;

/** A few tokens in and a few out: what a minimal request costs, micro-dollars. */
const MINIMAL_COST = (MODELS[0]?.price.perRequest ?? 100) + 15;

const SMALL_MICRO_USD = MINIMAL_REQUESTS * MINIMAL_COST;

const LIMITED: readonly Limits[] = [
  { rpm: 20, inFlight: 4 },
  { rpm: 6_000, inFlight: 4 },
];

/**
 * Makes one account or key for every state that the interface knows.
 *
 * @param keyTexts texts of keys by name; `limited1`, `limited1Second`, `starter`, `starterSecond` and so on name the rest.
 */
export function makeReadyAccounts(
  store: AccountStore,
  clock: GatewayClock,
  limits: Limits,
  keyTexts: Readonly<Record<string, string>>,
): ReadyAccounts {
  const unused = new Set(Object.keys(keyTexts));
  const make = (account: Account, name: string, terms: KeyTerms = {}) => {
    unused.delete(name);
    const key = store.createKey(account, terms, keyTexts[name]);
    if (key === undefined) throw new UsageError(`keys: "${name}" has the same text as another key.`);
    return key;
  };
  const pair = (account: Account, name: string) => ({
    key: make(account, name).secret,
    second: make(account, `${name}Second`).secret,
  });

  const main = store.createAccount("main", limits, AMPLE_MICRO_USD);
  const valid = make(main, "valid");
  const second = make(main, "second");
  const revoked = make(main, "revoked");
  revoked.revoked = true;
  const capped = make(main, "capped", { capMicroUsd: SMALL_MICRO_USD });
  const nowUs = clock.monotonicUs();
  capped.spend.charge(SMALL_MICRO_USD + MINIMAL_COST, utcDay(clock.nowMs()), nowUs, nowUs);
  const cappable = make(main, "cappable", { capMicroUsd: SMALL_MICRO_USD });
  const child = { parent: valid, budgetMicroUsd: SMALL_MICRO_USD };
  const childExhausted = make(main, "childExhausted", child);
  childExhausted.spend.charge(SMALL_MICRO_USD, utcDay(clock.nowMs()), nowUs, nowUs);
  const childSmall = make(main, "childSmall", child);

  const emptyAccount = store.createAccount("empty", limits, 0);
  const empty = make(emptyAccount, "empty");
  const emptySecond = make(emptyAccount, "emptySecond");
  const other = make(store.createAccount("other", limits, AMPLE_MICRO_USD), "other");

  const limited = LIMITED.map((own, index) => {
    const name = `limited${index + 1}`;
    return { ...pair(store.createAccount(name, own, AMPLE_MICRO_USD), name), limits: own };
  });
  const tiers = Object.fromEntries(
    TIER_NAMES.map((tier) => [tier, pair(store.createAccount(tier, TIERS[tier], AMPLE_MICRO_USD), tier)]),
  ) as ReadyAccounts["tiers"];
  if (unused.size > 0) throw new UsageError(`keys: there is no ready-made key named "${[...unused].join('", "')}".`);

  return {
    keys: {
      valid: valid.secret,
      second: second.secret,
      revoked: revoked.secret,
      capped: capped.secret,
      cappable: cappable.secret,
      childExhausted: childExhausted.secret,
      childSmall: childSmall.secret,
      empty: empty.secret,
      emptySecond: emptySecond.secret,
      other: other.secret,
    },
    limited,
    tiers,
    spending: { capMicroUsd: SMALL_MICRO_USD, budgetMicroUsd: SMALL_MICRO_USD, minimalRequests: MINIMAL_REQUESTS },
  };
}
