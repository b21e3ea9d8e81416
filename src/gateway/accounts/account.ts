import type { RateLimiter } from "../limits/rate-limiter.ts";
import type { Slots } from "../limits/slots.ts";
import type { ApiKey } from "./api-key.ts";
import type { Limits } from "./tiers.ts";

export class Account {
  readonly id: string;
  readonly name: string;
  readonly limits: Limits;
  readonly limiter: RateLimiter;
  readonly slots: Slots;
  readonly keys: ApiKey[] = [];
  /** Prepaid credit, whole micro-dollars; may fall below zero by the charges of requests that were already running. */
  balanceMicroUsd: number;
  /** Charges of requests that still run. */
  reservedMicroUsd = 0;

  constructor(id: string, name: string, limits: Limits, limiter: RateLimiter, slots: Slots, balanceMicroUsd: number) {
    this.id = id;
    this.name = name;
    this.limits = limits;
    this.limiter = limiter;
    this.slots = slots;
    this.balanceMicroUsd = balanceMicroUsd;
  }
}
