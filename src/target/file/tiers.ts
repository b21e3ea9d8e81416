/** Default account limits by tier (specification, section 8). */
export const TIERS = {
  starter: { rpm: 300, inFlight: 64 },
  growth: { rpm: 1_000, inFlight: 200 },
  scale: { rpm: 3_000, inFlight: 500 },
} as const;

export type Tier = keyof typeof TIERS;
