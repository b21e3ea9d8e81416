import { loadMutation, type Mutation } from "../change.ts";
import { rateBy } from "../edits/limit-scopes.ts";
import type { Apply } from "../edits/wrap.ts";

/** Accounts of the tier with this rate get another rate, requests per minute. */
const allowed = (tierRpm: number, rpm: number): Apply => rateBy(undefined, (own) => (own === tierRpm ? rpm : own));

/** Tiers that are limited by a rate other than their own. */
export const TIER_RATE_MUTATIONS: readonly Mutation[] = [
  loadMutation(
    "rate.starter-a-third",
    ["LIMIT-2", "LIMIT-RATE-3"],
    "Accounts of the starter tier get 100 requests per minute.",
    allowed(300, 100),
  ),
  loadMutation(
    "rate.growth-as-starter",
    ["LIMIT-2", "LIMIT-RATE-3"],
    "Accounts of the growth tier get the rate of the starter tier.",
    allowed(1_000, 300),
  ),
  loadMutation(
    "rate.growth-at-six-tenths",
    ["LIMIT-2", "LIMIT-RATE-3"],
    "Accounts of the growth tier get 600 requests per minute.",
    allowed(1_000, 600),
  ),
  loadMutation(
    "rate.scale-as-growth",
    ["LIMIT-2", "LIMIT-RATE-3"],
    "Accounts of the scale tier get the rate of the growth tier.",
    allowed(3_000, 1_000),
  ),
  loadMutation(
    "rate.starter-as-growth",
    ["LIMIT-2", "LIMIT-RATE-1", "LIMIT-RATE-2"],
    "Accounts of the starter tier get the rate of the growth tier.",
    allowed(300, 1_000),
  ),
];
