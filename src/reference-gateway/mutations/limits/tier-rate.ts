import { loadMutation, type Mutation } from "../../change.ts";
import { rateBy } from "../../edits/limit-scopes.ts";
import type { Apply } from "../../edits/wrap.ts";

/** Accounts of the tier with this rate get another rate, requests per minute. */
const allowed = (tierRpm: number, rpm: number): Apply => rateBy(undefined, (own) => (own === tierRpm ? rpm : own));

/** Tiers that are limited by a rate other than their own. */
export const TIER_RATE_MUTATIONS: readonly Mutation[] = [
  loadMutation("rate.starter-a-third", {
    breaks: ["LIMIT-2", "LIMIT-RATE-3"],
    summary: "Accounts of the starter tier get 100 requests per minute.",
    apply: allowed(300, 100),
    shownBy: "checks",
  }),
  loadMutation("rate.growth-as-starter", {
    breaks: ["LIMIT-2", "LIMIT-RATE-3"],
    summary: "Accounts of the growth tier get the rate of the starter tier.",
    apply: allowed(1_000, 300),
    shownBy: "checks",
  }),
  loadMutation("rate.growth-at-six-tenths", {
    breaks: ["LIMIT-2", "LIMIT-RATE-3"],
    summary: "Accounts of the growth tier get 600 requests per minute.",
    apply: allowed(1_000, 600),
    shownBy: "checks",
  }),
  loadMutation("rate.scale-as-growth", {
    breaks: ["LIMIT-2", "LIMIT-RATE-3"],
    summary: "Accounts of the scale tier get the rate of the growth tier.",
    apply: allowed(3_000, 1_000),
    shownBy: "checks",
  }),
  loadMutation("rate.starter-as-growth", {
    breaks: ["LIMIT-2", "LIMIT-RATE-1", "LIMIT-RATE-2"],
    summary: "Accounts of the starter tier get the rate of the growth tier.",
    apply: allowed(300, 1_000),
    shownBy: "checks",
  }),
];
