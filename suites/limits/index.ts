import type { Check } from "../../src/checks/index.ts";
import { requireUsableReplies } from "../shared/judge/require-usable-replies.ts";
import { DENIED_WHEN_IDLE } from "./concurrency/denied-when-idle.ts";
import { CONCURRENCY_LIMIT } from "./concurrency/limit.ts";
import { RELEASE_CHECKS } from "./concurrency/release.ts";
import { CONCURRENCY_SHARING } from "./concurrency/sharing.ts";
import { RATE_LIMIT } from "./rate/limit.ts";
import { OTHER_TRAFFIC } from "./rate/other-traffic.ts";
import { RATE_OVER_THE_RUN } from "./rate/over-the-run.ts";
import { RATE_SHARING } from "./rate/sharing.ts";
import { SPELLINGS } from "./spellings.ts";
import { TIER_CHANGE } from "./tiers/change.ts";
import { TIER_CONCURRENCY } from "./tiers/concurrency.ts";
import { RATE_WITH_STREAMS_IN_FLIGHT } from "./tiers/rate-with-streams-in-flight.ts";
import { TIER_RATES } from "./tiers/rates.ts";

/** The rate limit and the concurrency limit of accounts and tiers. */
export const LIMITS: readonly Check[] = [
  ...RATE_LIMIT,
  ...RATE_SHARING,
  ...CONCURRENCY_LIMIT,
  ...CONCURRENCY_SHARING,
  ...SPELLINGS,
  ...RELEASE_CHECKS,
  ...TIER_CONCURRENCY,
  ...RATE_WITH_STREAMS_IN_FLIGHT,
  ...TIER_RATES,
  ...TIER_CHANGE,
  ...DENIED_WHEN_IDLE,
  ...OTHER_TRAFFIC,
  ...RATE_OVER_THE_RUN,
].map(requireUsableReplies);
