import { KeySpend } from "../../accounts/key-spend.ts";
import { loadGrid, loadMutation, type Mutation, mutation } from "../../change.ts";
import { concurrencyBy, rateBy, UNLIMITED } from "../../edits/limit-scopes.ts";
import { byScheme, byVendorKey } from "../../edits/spelling.ts";
import { remembered, type When } from "../../edits/when.ts";
import { type Apply, wrap } from "../../edits/wrap.ts";
import { ConcurrencyLimiter } from "../../limiters/concurrency-limiter.ts";

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
  ...loadGrid(["LIMIT-1", "LIMIT-RATE-1"], rateBy, {
    "rate.per-scheme": {
      summary: "The rate limit is keyed by the text of Authorization: `bearer` has a separate limit.",
      with: byScheme,
      shownBy: "checks",
    },
    "rate.per-vendor-key": {
      summary: "The rate limit is keyed by the vendor's key header, if present.",
      with: byVendorKey,
      shownBy: "checks",
    },
  }),
  loadMutation("concurrency.per-scheme", {
    breaks: ["LIMIT-1", "LIMIT-CONC-2"],
    summary: "The concurrency limit is keyed by the text of Authorization.",
    apply: concurrencyBy(byScheme),
    shownBy: "checks",
  }),
  loadMutation("concurrency.per-vendor-key", {
    breaks: ["LIMIT-1", "LIMIT-CONC-2"],
    summary: "Requests with the vendor's key header are not counted as in flight.",
    apply: wrap(
      "concurrencyOf",
      (next) => (key, call) => (byVendorKey(call) === "" ? next(key, call) : freeInFlight(call)),
    ),
    shownBy: "checks",
  }),
  loadMutation("tokens.unusual-scheme-free", {
    breaks: ["TOKENS-ENFORCED"],
    summary: "Tokens are counted only if the scheme is spelled as documented.",
    apply: wrap("tokenLimiterOf", (next) => (key, call) => (unusualScheme(call) ? undefined : next(key, call))),
    shownBy: "checks",
  }),
  mutation("spend.per-scheme", {
    breaks: ["ERR-402-QUOTA", "ERR-429-BUDGET", "SPEND-8"],
    summary: "Caps and budgets are keyed by the text of Authorization.",
    apply: spendBy(byScheme, "Bearer "),
    detectedBy: { "spending.no-bypass[messages,capped]": "ERR-402-QUOTA" },
    shownBy: "checks",
  }),
  mutation("spend.per-vendor-key", {
    breaks: ["ERR-402-QUOTA", "ERR-429-BUDGET", "SPEND-8"],
    summary: "Caps and budgets are keyed by the vendor's key header, if present.",
    apply: spendBy(byVendorKey, ""),
    detectedBy: { "spending.no-bypass[chat,childExhausted]": "ERR-429-BUDGET" },
    shownBy: "checks",
  }),
  mutation("spend.empty-account-served-by-scheme", {
    breaks: ["ERR-402-CREDITS", "SPEND-2"],
    summary: "The balance is checked only if the scheme is spelled as documented.",
    apply: wrap("balanceExhausted", (next) => (key, call) => !unusualScheme(call) && next(key, call)),
    detectedBy: { "spending.no-bypass[chat,empty]": "ERR-402-CREDITS" },
    shownBy: "checks",
  }),
];
