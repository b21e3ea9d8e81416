import { KeySpend } from "../accounts/key-spend.ts";
import { loadMutation, type Mutation, mutation } from "../change.ts";
import { concurrencyBy, rateBy, UNLIMITED } from "../edits/limit-scopes.ts";
import { byScheme, byVendorKey } from "../edits/spelling.ts";
import { remembered, type When } from "../edits/when.ts";
import { type Apply, wrap } from "../edits/wrap.ts";
import { ConcurrencyLimiter } from "../limits/concurrency-limiter.ts";

/** Whether the scheme is written other than as `Bearer ` with one space. */
const unusualScheme: When = (call) => byScheme(call) !== "Bearer ";

/** Spend is counted by the text of the header that carries the key. */
const spendBy = (name: (call: Parameters<When>[0]) => string, usual: string): Apply => {
  const spends = remembered(() => new Map<string, KeySpend>());
  return wrap("findKey", (next) => (secret, call) => {
    const key = next(secret, call);
    const spelling = name(call);
    if (key === undefined || spelling === usual) return key;
    const id = `${key.id} ${spelling}`;
    const spend = spends(call).get(id) ?? new KeySpend();
    spends(call).set(id, spend);
    return Object.create(key, { spend: { value: spend } });
  });
};

const freeInFlight = remembered(() => new ConcurrencyLimiter(UNLIMITED));

/** Limits by the spelling of a key instead of by its account. */
export const SPELLING_MUTATIONS: readonly Mutation[] = [
  loadMutation(
    "rate.per-scheme",
    ["LIMIT-1", "LIMIT-RATE-1"],
    "The rate limit is keyed by the text of Authorization: `bearer` has a separate limit.",
    rateBy(byScheme),
  ),
  loadMutation(
    "rate.per-vendor-key",
    ["LIMIT-1", "LIMIT-RATE-1"],
    "The rate limit is keyed by the vendor's key header, if present.",
    rateBy(byVendorKey),
  ),
  loadMutation(
    "concurrency.per-scheme",
    ["LIMIT-1", "LIMIT-CONC-2"],
    "The concurrency limit is keyed by the text of Authorization.",
    concurrencyBy(byScheme),
  ),
  loadMutation(
    "concurrency.per-vendor-key",
    ["LIMIT-1", "LIMIT-CONC-2"],
    "Requests with the vendor's key header are not counted as in flight.",
    wrap("concurrencyOf", (next) => (key, call) => (byVendorKey(call) === "" ? next(key, call) : freeInFlight(call))),
  ),
  loadMutation(
    "tokens.unusual-scheme-free",
    ["TOKENS-ENFORCED"],
    "Tokens are counted only if the scheme is spelled as documented.",
    wrap("tokenLimiterOf", (next) => (key, call) => (unusualScheme(call) ? undefined : next(key, call))),
  ),
  mutation(
    "spend.per-scheme",
    ["ERR-402-QUOTA", "ERR-429-BUDGET", "SPEND-8"],
    "Caps and budgets are keyed by the text of Authorization.",
    spendBy(byScheme, "Bearer "),
  ),
  mutation(
    "spend.per-vendor-key",
    ["ERR-402-QUOTA", "ERR-429-BUDGET", "SPEND-8"],
    "Caps and budgets are keyed by the vendor's key header, if present.",
    spendBy(byVendorKey, ""),
  ),
  mutation(
    "spend.empty-account-served-by-scheme",
    ["ERR-402-CREDITS", "SPEND-2"],
    "The balance is checked only if the scheme is spelled as documented.",
    wrap("balanceExhausted", (next) => (key, call) => !unusualScheme(call) && next(key, call)),
  ),
];
