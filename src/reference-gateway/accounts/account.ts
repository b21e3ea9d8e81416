import type { ConcurrencyLimiter } from "../limiters/concurrency-limiter.ts";
import type { AccountLimiter } from "../limiters/rate-limiter.ts";
import type { TokenLimiter } from "../limiters/token-limiter.ts";
import { KeySpend, type SavedSpend } from "./key-spend.ts";
import type { Limits } from "./tiers.ts";

/** The saved form of an account: without its rate window and its requests in flight. */
export interface SavedAccount {
  readonly id: string;
  readonly name: string;
  readonly rpm: number;
  readonly inFlight: number;
  readonly balanceMicroUsd: number;
}

/** The saved form of a key. */
export interface SavedKey extends SavedSpend {
  readonly id: string;
  readonly secret: string;
  /** Ids. */
  readonly account: string;
  readonly parent: string | null;
  readonly capMicroUsd: number | null;
  readonly budgetMicroUsd: number | null;
  readonly revoked: boolean;
}

export class Account {
  readonly id: string;
  readonly name: string;
  #limits: Limits;
  #limiter: AccountLimiter;
  readonly concurrency: ConcurrencyLimiter;
  readonly keys: ApiKey[] = [];
  /** Prepaid credit, whole micro-dollars; may fall below zero by the charges of requests in flight. */
  balanceMicroUsd: number;
  /** Reserved charges of requests in flight. */
  reservedMicroUsd = 0;
  /** Limits its tokens per minute; absent: unlimited. Not saved: it is an option of each start. */
  tokens: TokenLimiter | undefined;

  constructor(
    id: string,
    name: string,
    limits: Limits,
    limiter: AccountLimiter,
    concurrency: ConcurrencyLimiter,
    balanceMicroUsd: number,
  ) {
    this.id = id;
    this.name = name;
    this.#limits = limits;
    this.#limiter = limiter;
    this.concurrency = concurrency;
    this.balanceMicroUsd = balanceMicroUsd;
  }

  get limits(): Limits {
    return this.#limits;
  }

  get limiter(): AccountLimiter {
    return this.#limiter;
  }

  /** Changes whenever saved state changes; cheap, because every save reads it for every account. */
  get version(): string {
    return `${this.balanceMicroUsd} ${this.#limits.rpm} ${this.#limits.inFlight}`;
  }

  get saved(): SavedAccount {
    const { id, name, balanceMicroUsd } = this;
    return { id, name, ...this.#limits, balanceMicroUsd };
  }

  /** Changes the limits from now on; requests in flight and of the last minute still count. */
  changeLimits(limits: Limits, nowUs: number): void {
    this.#limits = limits;
    this.#limiter = this.#limiter.changed(limits.rpm, nowUs);
    this.concurrency.limit = limits.inFlight;
  }
}

/** What a key may spend, and its parent key. */
export interface KeyTerms {
  /** Daily cap, micro-dollars, reset at 00:00 UTC. Absent: no cap. */
  readonly capMicroUsd?: number | undefined;
  /** Lifetime budget, micro-dollars; never refilled. Absent: no budget. */
  readonly budgetMicroUsd?: number | undefined;
  readonly parent?: ApiKey | undefined;
}

export class ApiKey {
  /** Public name of the key; the only form in history and logs. */
  readonly id: string;
  readonly secret: string;
  readonly account: Account;
  /** 0 for the first key of its account, 1 for the second, and so on. */
  readonly ordinal: number;
  readonly parent: ApiKey | undefined;
  readonly spend = new KeySpend();
  capMicroUsd: number | undefined;
  budgetMicroUsd: number | undefined;
  revoked = false;

  constructor(id: string, secret: string, account: Account, ordinal: number, terms: KeyTerms = {}) {
    this.id = id;
    this.secret = secret;
    this.account = account;
    this.ordinal = ordinal;
    this.parent = terms.parent;
    this.capMicroUsd = terms.capMicroUsd;
    this.budgetMicroUsd = terms.budgetMicroUsd;
  }

  /** Like that of an account: every charge changes the key's lifetime spend. */
  get version(): string {
    return `${this.spend.inLifetime} ${this.capMicroUsd} ${this.budgetMicroUsd} ${this.revoked}`;
  }

  get saved(): SavedKey {
    return {
      id: this.id,
      secret: this.secret,
      account: this.account.id,
      parent: this.parent?.id ?? null,
      capMicroUsd: this.capMicroUsd ?? null,
      budgetMicroUsd: this.budgetMicroUsd ?? null,
      revoked: this.revoked,
      ...this.spend.saved,
    };
  }
}
