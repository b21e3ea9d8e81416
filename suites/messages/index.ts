import type { Check } from "../../src/checks/index.ts";
import { repliesDifferByPrompt } from "../shared/judge/one-reply-to-all.ts";
import { servedAsSdksSend } from "../shared/requests/as-sdks-send.ts";
import { MAX_TOKENS } from "./max-tokens.ts";
import { MESSAGE_REQUESTS } from "./requests.ts";
import { SYSTEM_PROMPT } from "./system.ts";
import { SYSTEM_APPLIED } from "./system-applied.ts";

/** The messages dialect. */
export const MESSAGES: readonly Check[] = [
  ...MESSAGE_REQUESTS,
  ...MAX_TOKENS,
  ...SYSTEM_PROMPT,
  ...SYSTEM_APPLIED,
  repliesDifferByPrompt("messages"),
  servedAsSdksSend("messages"),
];
