import { type Account, type Key, keysOf, type Limits, type Target, type TokenLimits } from "../target/index.ts";
import { limitedFor } from "./limited-account.ts";

/** The account that a limit on tokens per minute applies to. */
export interface TokenLimitedAccount {
  readonly key: Key;
  /** Its other limits; `undefined` if the target file does not state them. */
  readonly limits: Limits | undefined;
  /** Whether other checks or load use it too, so that they must not run at the same time. */
  readonly shared: boolean;
  /** Whether the target file reserves it for limits or for a tier. */
  readonly isAside: boolean;
  readonly tokens: TokenLimits;
}

/** Maximum number of requests that the checks send per minute: a lower rate limit would deny them first. */
export const MIN_RPM = 20;
/** More tokens cost too much for a conformance run. */
export const MAX_TOKENS = 200_000;

/**
 * Finds the account with the declared token limit. If `tokenLimits` names a key, it is the account that the target file
 * assigns to that key; otherwise it is the account of the rate checks.
 *
 * @returns `undefined` if no token limit is declared, or there is no key for it.
 */
export function tokenLimitedFor(target: Target): TokenLimitedAccount | undefined {
  const { tokenLimits: tokens } = target;
  if (tokens === undefined) return undefined;
  if (tokens.key === undefined) {
    const account = limitedFor(target, "rate");
    return (
      account && { key: account.key, limits: account.limits, shared: account.shared, isAside: !account.shared, tokens }
    );
  }
  const text = tokens.key.reveal();
  for (const { account, shared, isAside } of otherAccounts(target)) {
    const key = keysOf(account).find((own) => own.reveal() === text);
    if (key !== undefined) return { key, limits: account.limits, shared, isAside, tokens };
  }
  return { key: tokens.key, limits: undefined, shared: false, isAside: true, tokens };
}

interface OtherAccount {
  readonly account: Pick<Account, "key" | "second"> & { readonly limits: Limits | undefined };
  readonly shared: boolean;
  readonly isAside: boolean;
}

function otherAccounts({ keys, limits, limited, tiers }: Target): readonly OtherAccount[] {
  const main = { key: keys.valid, second: keys.second, limits };
  return [
    ...limited.map((account) => ({ account, shared: false, isAside: true })),
    { account: main, shared: true, isAside: false },
    ...Object.values(tiers).map((account) => ({ account, shared: true, isAside: true })),
  ];
}
