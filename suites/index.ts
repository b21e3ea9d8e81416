import { type Check, onAnyAccount } from "../src/checks/index.ts";
import { AUTH } from "./auth.ts";
import { CHAT } from "./chat.ts";
import { COMPAT } from "./compat/index.ts";
import { DENIED_ANYHOW } from "./denied-anyhow.ts";
import { ERRORS } from "./errors.ts";
import { CONCURRENCY_CHECKS } from "./limits/concurrency-checks.ts";
import { DENIED_WHEN_IDLE } from "./limits/concurrency-denied-when-idle.ts";
import { RATE_CHECKS } from "./limits/rate-checks.ts";
import { RATE_OVER_THE_RUN } from "./limits/rate-over-the-run.ts";
import { RATE_WITH_STREAMS_IN_FLIGHT } from "./limits/rate-with-streams-in-flight.ts";
import { TIER_CONCURRENCY } from "./limits/tier-concurrency.ts";
import { TIER_RATES } from "./limits/tier-rates.ts";
import { MESSAGES } from "./messages.ts";
import { MODELS } from "./models.ts";
import { RETRY_AFTER_HEADER } from "./retry-after/header.ts";
import { ROBUSTNESS } from "./robustness/index.ts";
import { SECURITY } from "./security.ts";
import { SERVICE } from "./service.ts";
import { SPENDING } from "./spending/index.ts";
import { STREAMING } from "./streaming.ts";

/** Every check there is, in the order in which reports show them. */
export const CHECKS: readonly Check[] = [
  ...SERVICE,
  ...AUTH,
  ...MODELS,
  ...onAnyAccount(CHAT),
  ...onAnyAccount(MESSAGES),
  ...onAnyAccount(STREAMING),
  ...ERRORS,
  ...DENIED_ANYHOW,
  ...RATE_CHECKS,
  ...CONCURRENCY_CHECKS,
  ...TIER_CONCURRENCY,
  ...RATE_WITH_STREAMS_IN_FLIGHT,
  ...TIER_RATES,
  ...DENIED_WHEN_IDLE,
  ...RATE_OVER_THE_RUN,
  ...RETRY_AFTER_HEADER,
  ...SPENDING,
  ...SECURITY,
  ...onAnyAccount(ROBUSTNESS),
  ...onAnyAccount(COMPAT),
];
