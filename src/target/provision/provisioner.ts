import type { Key } from "../key.ts";
import type { Limits, Target } from "../target.ts";

/** An account whose limits can be raised. */
export interface Upgradable {
  readonly key: Key;
  /** Limits at the beginning, and after `upgrade`. */
  readonly before: Limits;
  readonly after: Limits;
  upgrade(): Promise<void>;
}

/** An account that the harness may change while the gateway runs. */
export interface ManagedAccount {
  /** @param terms daily cap, micro-dollars; default: none. */
  createKey(terms?: { readonly capMicroUsd?: number }): Promise<Key>;
  /** Removes the daily cap of a key that was created here. */
  removeCap(key: Key): Promise<void>;
  revoke(key: Key): Promise<void>;
}

/** Creates states on demand: an operator's hook, or the embedded gateway. */
export interface Provisioner {
  /** The attestation of keys that it created. */
  readonly attestation: "hook" | "embedded";
  /**
   * A new key in a state, named as in the needs of checks: `key.revoked`, `key.cappable`, …
   *
   * @returns `undefined` when this provisioner cannot create that state.
   * @throws ConfigError when the operator's hook fails: a broken hook is not a missing state.
   */
  fresh(state: string, signal: AbortSignal): Promise<Key | undefined>;
  /**
   * Deletes what it created for this run, at the end of the run.
   *
   * @returns false when it does not support that; the record then lists the leftovers.
   */
  readonly release?: () => Promise<boolean>;
  /** New accounts of the tiers, which nothing else uses, so that load on them may start concurrently with the checks. */
  readonly loadAccounts?: () => Promise<Target["tiers"]>;
  /** A new account with small limits, and a way to raise them while the gateway runs. */
  readonly upgradable?: () => Promise<Upgradable>;
  /** A new account with a balance in micro-dollars, whose keys can be changed. */
  readonly managed?: (balanceMicroUsd: number) => Promise<ManagedAccount>;
  /** Shifts the gateway's wall clock by this many ms, if supported. */
  readonly shiftClock?: (ms: number) => Promise<void>;
  /** The gateway's wall clock, Unix epoch ms, if it can be read. */
  readonly readClock?: () => Promise<number>;
}
