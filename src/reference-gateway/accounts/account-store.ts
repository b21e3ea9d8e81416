import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import { ConcurrencyLimiter } from "../limiters/concurrency-limiter.ts";
import { type LimiterChoice, makeLimiter } from "../limiters/limiter-kinds.ts";
import { Account, ApiKey, type KeyTerms, type SavedAccount, type SavedKey } from "./account.ts";
import type { Limits } from "./tiers.ts";

interface Entry {
  readonly digest: Buffer;
  readonly key: ApiKey;
}

/** All accounts and keys of one gateway. */
export class AccountStore {
  readonly limiter: LimiterChoice;
  readonly #suffix: string;
  readonly #accounts = new Map<string, Account>();
  readonly #keys = new Map<string, ApiKey>();
  readonly #byDigest = new Map<string, Entry>();

  /** @param suffix of the ids that this gateway chooses: replicas must not choose the same one. */
  constructor(limiter: LimiterChoice, suffix = "") {
    this.limiter = limiter;
    this.#suffix = suffix;
  }

  get accounts(): IterableIterator<Account> {
    return this.#accounts.values();
  }

  get keys(): IterableIterator<ApiKey> {
    return this.#keys.values();
  }

  createAccount(name: string, limits: Limits, balanceMicroUsd: number): Account {
    return this.#addAccount(freeId("acct", this.#accounts, this.#suffix), name, limits, balanceMicroUsd);
  }

  /**
   * @param secret the key's text; random when absent.
   * @returns the key, or `undefined` when another key has that text.
   */
  createKey(account: Account, terms: KeyTerms = {}, secret: string = newSecret()): ApiKey | undefined {
    return this.#addKey(freeId("key", this.#keys, this.#suffix), secret, account, terms);
  }

  /** Adds a saved account. Its rate window is empty, and it has nothing in flight. */
  restoreAccount({ id, name, rpm, inFlight, balanceMicroUsd }: SavedAccount): Account {
    return this.#addAccount(id, name, { rpm, inFlight }, balanceMicroUsd);
  }

  /**
   * Adds a saved key, after its account and its parent.
   *
   * @throws when one of them is missing, or another key has the same text.
   */
  restoreKey(saved: SavedKey): ApiKey {
    const account = this.#accounts.get(saved.account);
    const parent = saved.parent === null ? undefined : this.#keys.get(saved.parent);
    if (account === undefined || (saved.parent !== null && parent === undefined))
      throw new Error(`the account or the parent of ${saved.id} is missing`);
    const terms: KeyTerms = {
      parent,
      capMicroUsd: saved.capMicroUsd ?? undefined,
      budgetMicroUsd: saved.budgetMicroUsd ?? undefined,
    };
    const key = this.#addKey(saved.id, saved.secret, account, terms);
    if (key === undefined) throw new Error(`${saved.id} has the text of another key`);
    key.revoked = saved.revoked;
    key.spend.restore(saved);
    return key;
  }

  account(id: string): Account | undefined {
    return this.#accounts.get(id);
  }

  key(id: string): ApiKey | undefined {
    return this.#keys.get(id);
  }

  /** Finds a key by its text. Only digests are compared, so that the timing does not reveal how much of a guess was right. */
  find(secret: string): ApiKey | undefined {
    const digest = digestOf(secret);
    const entry = this.#byDigest.get(digest.toString("latin1"));
    return entry !== undefined && timingSafeEqual(entry.digest, digest) ? entry.key : undefined;
  }

  #addAccount(id: string, name: string, limits: Limits, balanceMicroUsd: number): Account {
    const limiter = makeLimiter(this.limiter, limits.rpm);
    const account = new Account(id, name, limits, limiter, new ConcurrencyLimiter(limits.inFlight), balanceMicroUsd);
    this.#accounts.set(id, account);
    return account;
  }

  #addKey(id: string, secret: string, account: Account, terms: KeyTerms): ApiKey | undefined {
    const digest = digestOf(secret);
    const name = digest.toString("latin1");
    if (this.#byDigest.has(name)) return undefined;
    const key = new ApiKey(id, secret, account, account.keys.length, terms);
    account.keys.push(key);
    this.#keys.set(key.id, key);
    this.#byDigest.set(name, { digest, key });
    return key;
  }
}

/** The next id in creation order. */
function freeId(prefix: string, taken: ReadonlyMap<string, unknown>, suffix: string): string {
  let number = taken.size + 1;
  // A row that someone deleted from a data file leaves a gap.
  while (taken.has(`${prefix}_${number}${suffix}`)) number += 1;
  return `${prefix}_${number}${suffix}`;
}

function digestOf(secret: string): Buffer {
  // Header values arrive as one character per byte, whatever their encoding.
  return createHash("sha256").update(secret, "latin1").digest();
}

function newSecret(): string {
  return `gk-${randomBytes(24).toString("base64url")}`;
}
