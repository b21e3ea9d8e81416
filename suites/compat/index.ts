import type { Check } from "../../src/checks/index.ts";
import { CAPABILITY_COMPAT } from "./capabilities.ts";
import { CHAT_COMPAT } from "./chat-stream.ts";
import { CUT_REPLY_COMPAT } from "./cut-reply.ts";
import { ERROR_COMPAT } from "./errors.ts";
import { MESSAGES_COMPAT } from "./messages-stream.ts";
import { REPLY_MODEL } from "./reply-model.ts";
import { TOOL_COMPAT } from "./tools.ts";

/** What real clients need beyond the specification. Reported separately from it. */
export const COMPAT: readonly Check[] = [
  ...CHAT_COMPAT,
  ...MESSAGES_COMPAT,
  ...TOOL_COMPAT,
  ...CAPABILITY_COMPAT,
  ...CUT_REPLY_COMPAT,
  ...ERROR_COMPAT,
  ...REPLY_MODEL,
];
