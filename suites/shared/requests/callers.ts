import type { RequestSpec, Session } from "../../../src/checks/index.ts";
import type { Reason } from "../../../src/requirements/index.ts";
import { nonexistentKey } from "./fabricated-key.ts";

/** Callers that must be denied whatever they send, and the reason. */
export const CALLERS = {
  missing: "invalid_api_key",
  unknown: "invalid_api_key",
  revoked: "key_revoked",
  empty: "insufficient_credits",
  capped: "quota_exceeded",
  childExhausted: "budget_exhausted",
} as const satisfies Readonly<Record<string, Reason>>;

export type Caller = keyof typeof CALLERS;

/** Number of concurrent requests. */
export const AT_ONCE = 6;

/** @returns `null` if the target has no such key. */
export function credentialsOf(t: Session, caller: Caller): Pick<RequestSpec, "key" | "authorization"> | null {
  if (caller === "missing") return { key: null };
  if (caller === "unknown") return { authorization: `Bearer ${nonexistentKey(t).reveal()}` };
  return t.target.keys[caller] === undefined ? null : { key: caller };
}
