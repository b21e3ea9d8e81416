import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import { ConcurrencyLimiter } from "../limits/concurrency-limiter.ts";
import { type LimiterChoice, makeLimiter } from "../limits/limiter-kinds.ts";
import { Account, ApiKey, type KeyTerms } from "./account.ts";
import type { Limits } from "./tiers.ts";

interface Entry {
  readonly digest: Buffer;
  readonly key: ApiKey;
}

/** Every account and key of one gateway. */
export class AccountStore {
  readonly limiter: LimiterChoice;
  readonly #accounts = new Map<string, Account>();
  readonly #keys = new Map<string, ApiKey>();
  readonly #byDigest = new Map<string, Entry>();

  constructor(limiter: LimiterChoice) {
    this.limiter = limiter;
  }

  get accounts(): IterableIterator<Account> {
    return this.#accounts.values();
  }

  get keys(): IterableIterator<ApiKey> {
    return this.#keys.values();
  }

  createAccount(name: string, limits: Limits, balanceMicroUsd: number): Account {
    const id = `acct_${this.#accounts.size + 1}`;
    const limiter = makeLimiter(this.limiter, limits.rpm);
    const account = new Account(id, name, limits, limiter, new ConcurrencyLimiter(limits.inFlight), balanceMicroUsd);
    this.#accounts.set(id, account);
    return account;
  }

  /**
   * @param secret the key's text; a random one when absent.
   * @returns the key, or `undefined` when another key has that text already.
   */
  createKey(account: Account, terms: KeyTerms = {}, secret: string = newSecret()): ApiKey | undefined {
    const digest = digestOf(secret);
    const name = digest.toString("latin1");
    if (this.#byDigest.has(name)) return undefined;
    const key = new ApiKey(`key_${this.#keys.size + 1}`, secret, account, account.keys.length, terms);
    account.keys.push(key);
    this.#keys.set(key.id, key);
    this.#byDigest.set(name, { digest, key });
    return key;
  }

  account(id: string): Account | undefined {
    return this.#accounts.get(id);
  }

  key(id: string): ApiKey | undefined {
    return this.#keys.get(id);
  }

  /**
   * Finds a key by its text. Only digests are compared, so that the time taken tells nothing about how much of a
   * guess was right.
   */
  find(secret: string): ApiKey | undefined {
    const digest = digestOf(secret);
    const entry = this.#byDigest.get(digest.toString("latin1"));
    return entry !== undefined && timingSafeEqual(entry.digest, digest) ? entry.key : undefined;
  }
}

function digestOf(secret: string): Buffer {
  // Header values arrive as one character per byte, whatever the bytes meant.
  return createHash("sha256").update(secret, "latin1").digest();
}

function newSecret(): string {
  return `gk-${randomBytes(24).toString("base64url")}`;
}
