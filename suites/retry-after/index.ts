import type { Check } from "../../src/checks/index.ts";
import { requireUsableReplies } from "../shared/judge/require-usable-replies.ts";
import { RETRY_AFTER_HEADER } from "./header.ts";
import { RETRY_AFTER_SUFFICIENT } from "./sufficient.ts";

/** What the Retry-After header says, and whether it is true. */
export const RETRY_AFTER: readonly Check[] = [...RETRY_AFTER_SUFFICIENT, ...RETRY_AFTER_HEADER].map(
  requireUsableReplies,
);
