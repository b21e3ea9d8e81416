import type { Check } from "../../src/checks/index.ts";
import { requireUsableReplies } from "../shared/judge/require-usable-replies.ts";
import { REPLICAS_AGREEMENT } from "./agreement.ts";
import { REPLICAS_CONCURRENCY } from "./concurrency.ts";
import { REPLICAS_KEYS } from "./keys.ts";
import { REPLICAS_RATE } from "./rate.ts";
import { REPLICAS_SPENDING } from "./spending.ts";

/** What the replicas of a gateway must have in common, where the target has several addresses. */
export const REPLICAS: readonly Check[] = [
  ...REPLICAS_RATE,
  ...REPLICAS_CONCURRENCY,
  ...REPLICAS_SPENDING,
  ...REPLICAS_KEYS,
  ...REPLICAS_AGREEMENT,
].map(requireUsableReplies);
