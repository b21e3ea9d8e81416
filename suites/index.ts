import { type Check, inDialect, onAnyAccount } from "../src/checks/index.ts";
import { AUTH } from "./auth/index.ts";
import { CHAT } from "./chat.ts";
import { COMPAT } from "./compat/index.ts";
import { ERRORS } from "./errors/index.ts";
import { LEDGER } from "./ledger/index.ts";
import { LIMITS } from "./limits/index.ts";
import { MESSAGES } from "./messages/index.ts";
import { LIST_AS_SDKS_SEND } from "./models/as-sdks-send.ts";
import { LIST_DENIED_IN_EVERY_FORM } from "./models/denied-in-every-form.ts";
import { MODELS } from "./models.ts";
import { REPLICAS } from "./replicas/index.ts";
import { RETRY_AFTER } from "./retry-after/index.ts";
import { ROBUSTNESS } from "./robustness/index.ts";
import { SECURITY } from "./security.ts";
import { SERVICE } from "./service.ts";
import { SPENDING } from "./spending/index.ts";
import { STREAMING } from "./streaming.ts";
import { TOKEN_LIMITS } from "./token-limits/index.ts";
import { UPSTREAM } from "./upstream/index.ts";

export { fabricatedKey } from "./shared/requests/fabricated-key.ts";

/** Every check there is, in the order in which reports show them. */
export const CHECKS: readonly Check[] = inDialect("any", [
  ...SERVICE,
  ...AUTH,
  ...MODELS,
  ...LIST_AS_SDKS_SEND,
  ...LIST_DENIED_IN_EVERY_FORM,
  ...inDialect("chat", onAnyAccount(CHAT)),
  ...inDialect("messages", onAnyAccount(MESSAGES)),
  ...onAnyAccount(STREAMING),
  ...ERRORS,
  ...onAnyAccount(UPSTREAM),
  ...LIMITS,
  ...RETRY_AFTER,
  ...TOKEN_LIMITS,
  ...SPENDING,
  ...LEDGER,
  ...REPLICAS,
  ...SECURITY,
  ...onAnyAccount(ROBUSTNESS),
  ...onAnyAccount(COMPAT),
]);

export { QUICK_INSTANCES } from "./quick-instances.ts";
