import type { Need } from "./need.ts";

/**
 * The limit that a check reaches on purpose. The check sends on an account that the target file reserves for it (`limited`,
 * `tiers`, `tokenLimits.key`, a key that may be used up) or that was created for it. It uses the account of `valid` only if the
 * target is on loopback or has `authorized: true`.
 */
export type Reaches = "rate" | "concurrency" | "tokens" | "tier" | "spending" | "made";

/**
 * The need that provides an account whose limit may be reached. Checks of the other kinds name their accounts and keys in
 * `needs`.
 */
export const ACCOUNTS_TO_REACH: Readonly<Record<Reaches, Need | undefined>> = {
  rate: "limited.rate",
  concurrency: "limited.concurrency",
  tokens: "tokenLimits",
  tier: undefined,
  spending: undefined,
  made: undefined,
};
