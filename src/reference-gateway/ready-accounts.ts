import { UsageError } from "../core/index.ts";
import type { Account, ApiKey, KeyTerms } from "./accounts/account.ts";
import type { AccountStore } from "./accounts/account-store.ts";
import { type Limits, TIER_NAMES, TIERS, type Tier } from "./accounts/tiers.ts";
import { utcDay } from "./accounts/utc-day.ts";
import type { GatewayClock } from "./gateway-clock.ts";
import { REMAINING_TOKENS, rollingTokens, type TokenCounts } from "./limiters/token-limiter.ts";
import type { TokenSettings } from "./options.ts";
import { MODELS } from "./providers/model-table.ts";

/** Two keys of one account reserved for limit checks. */
export interface LimitedAccount {
  readonly key: string;
  readonly second: string;
  readonly limits: Limits;
}

/** Texts of the keys that a gateway has at start, and their purposes. */
export interface ReadyAccounts {
  readonly keys: Readonly<Record<ReadyKeyName, string>>;
  readonly limited: readonly LimitedAccount[];
  readonly tiers: Readonly<Record<Tier, { readonly key: string; readonly second: string }>>;
  /** The small cap and the small budget in micro-dollars, and roughly how many minimal requests that is. */
  readonly spending: {
    readonly capMicroUsd: number;
    readonly budgetMicroUsd: number;
    readonly minimalRequests: number;
  };
}

const KEY_NAMES = [
  "valid",
  "second",
  "revoked",
  "capped",
  "cappable",
  "childExhausted",
  "childSmall",
  "empty",
  "emptySecond",
  "other",
] as const;

type ReadyKeyName = (typeof KEY_NAMES)[number];

/** A thousand dollars: none of our runs uses that up. */
const AMPLE_MICRO_USD = 1_000_000_000;

/** Minimal requests that the small cap and the small budget allow. */
const MINIMAL_REQUESTS = 40;

/** A few tokens in and a few out: the cost of a minimal request, micro-dollars. */
const MINIMAL_COST = (MODELS[0]?.price.perRequest ?? 100) + 15;

const SMALL_MICRO_USD = MINIMAL_REQUESTS * MINIMAL_COST;

const LIMITED: readonly Limits[] = [
  { rpm: 20, inFlight: 4 },
  { rpm: 6_000, inFlight: 4 },
];

/** Ready-made keys by name; `limited1`, `limited1Second`, `starter`, `starterSecond` and so on are the keys of pairs. */
export type ReadyKeys = ReadonlyMap<string, ApiKey>;

/**
 * Creates one account or key for every state that the interface knows.
 *
 * @param keyTexts texts of keys by name.
 */
export function makeReadyKeys(
  store: AccountStore,
  clock: GatewayClock,
  limits: Limits,
  keyTexts: Readonly<Record<string, string>>,
): ReadyKeys {
  const made = new Map<string, ApiKey>();
  const make = (account: Account, name: string, terms: KeyTerms = {}) => {
    const key = store.createKey(account, terms, keyTexts[name]);
    if (key === undefined) throw new UsageError(`keys: "${name}" has the same text as another key.`);
    made.set(name, key);
    return key;
  };
  const pair = (account: Account, name: string) => {
    make(account, name);
    make(account, `${name}Second`);
  };

  const main = store.createAccount("main", limits, AMPLE_MICRO_USD);
  const valid = make(main, "valid");
  make(main, "second");
  make(main, "revoked").revoked = true;
  const capped = make(main, "capped", { capMicroUsd: SMALL_MICRO_USD });
  const nowUs = clock.monotonicUs();
  capped.spend.charge(SMALL_MICRO_USD + MINIMAL_COST, utcDay(clock.nowMs()), nowUs, nowUs);
  make(main, "cappable", { capMicroUsd: SMALL_MICRO_USD });
  const child = { parent: valid, budgetMicroUsd: SMALL_MICRO_USD };
  make(main, "childExhausted", child).spend.charge(SMALL_MICRO_USD, utcDay(clock.nowMs()), nowUs, nowUs);
  make(main, "childSmall", child);

  pair(store.createAccount("empty", limits, 0), "empty");
  make(store.createAccount("other", limits, AMPLE_MICRO_USD), "other");
  for (const [index, own] of LIMITED.entries()) {
    const name = `limited${index + 1}`;
    pair(store.createAccount(name, own, AMPLE_MICRO_USD), name);
  }
  for (const tier of TIER_NAMES) pair(store.createAccount(tier, TIERS[tier], AMPLE_MICRO_USD), tier);

  return made;
}

/** @throws UsageError for a name that is not a ready-made key. */
export function refuseUnknown(keyTexts: Readonly<Record<string, string>>, made: ReadyKeys): void {
  const unknown = Object.keys(keyTexts).filter((name) => !made.has(name));
  if (unknown.length > 0) throw new UsageError(`keys: no ready-made key is named "${unknown.join('", "')}".`);
}

/** The keys in the ready line. @throws UsageError when one of them is missing. */
export function readyAccountsOf(made: ReadyKeys): ReadyAccounts {
  const keyOf = (name: string): ApiKey => {
    const key = made.get(name);
    if (key === undefined) throw new UsageError(`no ready-made key is named "${name}"`);
    return key;
  };
  const textOf = (name: string) => keyOf(name).secret;
  const pair = (name: string) => ({ key: textOf(name), second: textOf(`${name}Second`) });
  return {
    keys: Object.fromEntries(KEY_NAMES.map((name) => [name, textOf(name)])) as ReadyAccounts["keys"],
    limited: LIMITED.map((_limits, index) => {
      const name = `limited${index + 1}`;
      return { ...pair(name), limits: keyOf(name).account.limits };
    }),
    tiers: Object.fromEntries(TIER_NAMES.map((tier) => [tier, pair(tier)])) as ReadyAccounts["tiers"],
    spending: {
      capMicroUsd: keyOf("cappable").capMicroUsd ?? SMALL_MICRO_USD,
      budgetMicroUsd: keyOf("childSmall").budgetMicroUsd ?? SMALL_MICRO_USD,
      minimalRequests: MINIMAL_REQUESTS,
    },
  };
}

/** A key whose account has a limit on tokens per minute. */
export interface TokenLimitedKey {
  readonly key: string;
  readonly tokensPerMinute: number;
  readonly counts: TokenCounts;
  /** Tokens that requests in flight may take beyond it: none, because the maximum of each reply is reserved. */
  readonly inFlightTokens: 0;
  readonly remainingHeaders: readonly string[];
}

const TOKEN_LIMITED = "tokenLimited";
/** High enough that the token limit applies first. */
const AMPLE_LIMITS: Limits = { rpm: 6_000, inFlight: 64 };

/** Adds the account with a token limit, unless a data file already has it. @returns all ready-made keys. */
export function withTokenLimit(
  made: ReadyKeys,
  store: AccountStore,
  { perMinute }: TokenSettings,
  keyTexts: Readonly<Record<string, string>>,
): ReadyKeys {
  const known = made.get(TOKEN_LIMITED);
  const key =
    known ??
    store.createKey(store.createAccount(TOKEN_LIMITED, AMPLE_LIMITS, AMPLE_MICRO_USD), {}, keyTexts[TOKEN_LIMITED]);
  if (key === undefined) throw new UsageError(`keys: "${TOKEN_LIMITED}" has the same text as another key.`);
  key.account.tokens = rollingTokens(perMinute);
  return new Map(made).set(TOKEN_LIMITED, key);
}

/** The token limit in the ready line. */
export function tokenLimitsOf({ perMinute, counts }: TokenSettings, made: ReadyKeys): TokenLimitedKey {
  const key = made.get(TOKEN_LIMITED);
  if (key === undefined) throw new UsageError(`no ready-made key is named "${TOKEN_LIMITED}"`);
  const remainingHeaders = [REMAINING_TOKENS];
  return { key: key.secret, tokensPerMinute: perMinute, counts, inFlightTokens: 0, remainingHeaders };
}
