import { type Account, type Key, keysOf, type Target } from "../../target/index.ts";
import type { KeyAcceptance } from "../fixtures/key-acceptance.ts";

/** At this rate limit, a whole run does not delay itself. */
const AMPLE_RPM = 1_000;

/** Picks keys for checks that work with any funded key. */
export class KeyTurns {
  readonly #target: () => Target;
  readonly #keys: KeyAcceptance;
  #turns = 0;

  constructor(target: () => Target, keys: KeyAcceptance) {
    this.#target = target;
    this.#keys = keys;
  }

  /**
   * The key of `valid`, or of a tier's account if the rate of `valid` is so low that it would delay the run by minutes. Keys of
   * one account take turns. A tier's account is not used if the gateway rejects one of its keys.
   */
  async next(): Promise<Key> {
    const { keys, limits, tiers } = this.#target();
    const wide = Object.values(tiers)
      .filter((account) => account.limits.rpm >= AMPLE_RPM)
      .sort((a, b) => b.limits.rpm - a.limits.rpm)[0];
    const own = { key: keys.valid, second: keys.second };
    const isOwn = (limits?.rpm ?? 0) >= AMPLE_RPM || wide === undefined || (await this.#isRejected(wide));
    const { key, second } = isOwn ? own : wide;
    // The two keys of an account take turns: a defect may affect only one of them.
    return this.#turns++ % 2 === 1 && second !== undefined ? second : key;
  }

  /** Whether the gateway rejects a key of an account. */
  async #isRejected(account: Account): Promise<boolean> {
    if (this.#target().source === "embedded") return false;
    const rejections = await Promise.all(keysOf(account).map((key) => this.#keys.rejection(key)));
    return rejections.some((rejection) => rejection !== undefined);
  }
}
