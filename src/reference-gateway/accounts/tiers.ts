/** The limits of an account. */
export interface Limits {
  /** Requests per minute; whole number, 1 or more. */
  readonly rpm: number;
  /** Requests in flight; whole number, 1 or more. */
  readonly inFlight: number;
}

export const TIERS = {
  starter: { rpm: 300, inFlight: 64 },
  growth: { rpm: 1_000, inFlight: 200 },
  scale: { rpm: 3_000, inFlight: 500 },
} as const satisfies Record<string, Limits>;

export type Tier = keyof typeof TIERS;

export const TIER_NAMES = Object.keys(TIERS) as readonly Tier[];
