import type { Key } from "./key.ts";
import type { Limits, Target } from "./target.ts";

/** An account whose limits can be raised. */
export interface Upgradable {
  readonly key: Key;
  /** Limits at the beginning, and after `upgrade`. */
  readonly before: Limits;
  readonly after: Limits;
  upgrade(): Promise<void>;
}

/** Makes states on demand: an operator's hook, or the embedded gateway. */
export interface Provisioner {
  /** How a key that it made is vouched for. */
  readonly attestation: "hook" | "embedded";
  /**
   * A new key in a state, named as checks name their needs: `key.revoked`, `key.cappable`, …
   *
   * @returns `undefined` when this provisioner cannot make that state.
   * @throws ConfigError when the operator's hook fails: a broken hook is no missing state.
   */
  fresh(state: string, signal: AbortSignal): Promise<Key | undefined>;
  /**
   * Takes back what it made for this run, when the run is over.
   *
   * @returns false when it does not do that; the record then lists what is left.
   */
  readonly release?: () => Promise<boolean>;
  /** New accounts of the tiers, which nothing else uses: load on them may start at once, in parallel with the checks. */
  readonly loadAccounts?: () => Promise<Target["tiers"]>;
  /** A new account with small limits, and the means to raise them while the gateway runs. */
  readonly upgradable?: () => Promise<Upgradable>;
  /** Shifts the gateway's wall clock by so many ms, where that is possible. */
  readonly shiftClock?: (ms: number) => Promise<void>;
  /** The gateway's wall clock, Unix epoch ms, where it can be read. */
  readonly readClock?: () => Promise<number>;
}
