import { type Check, onAnyAccount } from "../src/checks/index.ts";
import { AUTH } from "./auth.ts";
import { CHAT } from "./chat.ts";
import { COMPAT } from "./compat/index.ts";
import { DENIED_ANYHOW } from "./denied-anyhow.ts";
import { ERRORS } from "./errors.ts";
import { AMBIENT_CHECKS } from "./limits/ambient-checks.ts";
import { HINT_CHECKS } from "./limits/hint-checks.ts";
import { LONE_DENIALS } from "./limits/lone-denials.ts";
import { RATE_CHECKS } from "./limits/rate-checks.ts";
import { SLOT_CHECKS } from "./limits/slots-checks.ts";
import { TIER_RATES } from "./limits/tier-rates.ts";
import { TIER_SLOTS } from "./limits/tier-slots.ts";
import { WITH_OTHERS_CHECKS } from "./limits/with-others.ts";
import { MESSAGES } from "./messages.ts";
import { MODELS } from "./models.ts";
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
  ...SLOT_CHECKS,
  ...TIER_SLOTS,
  ...WITH_OTHERS_CHECKS,
  ...TIER_RATES,
  ...LONE_DENIALS,
  ...AMBIENT_CHECKS,
  ...HINT_CHECKS,
  ...SPENDING,
  ...SECURITY,
  ...onAnyAccount(ROBUSTNESS),
  ...onAnyAccount(COMPAT),
];
