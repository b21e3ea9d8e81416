import type { Need } from "./need.ts";

/**
 * A limit that a check is meant to reach. What it sends goes to an account that the target file sets aside for it (`limited`,
 * `tiers`, `tokenLimits.key`, a key that may be used up) or that was made for it; to the account of `valid` only on this machine,
 * or where the target says `authorized: true`.
 */
export type Reaches = "rate" | "concurrency" | "tokens" | "tier" | "spending" | "made";

/** Needs that only an account meets whose limit may be reached; those of the others name their accounts and keys themselves. */
export const ACCOUNTS_TO_REACH: Readonly<Record<Reaches, Need | undefined>> = {
  rate: "limited.rate",
  concurrency: "limited.concurrency",
  tokens: "tokenLimits",
  tier: undefined,
  spending: undefined,
  made: undefined,
};
