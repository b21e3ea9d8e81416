import type { Check } from "../../src/checks/index.ts";
import { requireUsableReplies } from "../shared/judge/require-usable-replies.ts";
import { TOKEN_DENIALS } from "./denials.ts";
import { TOKEN_LIMIT } from "./limit.ts";

/** A limit on tokens per minute, if the target file declares one. */
export const TOKEN_LIMITS: readonly Check[] = [...TOKEN_LIMIT, ...TOKEN_DENIALS].map(requireUsableReplies);
