import type { RequestSpec, Session } from "../../../src/checks/index.ts";
import { DENIED_KEYS, type DeniedKey, denialOfKey, type Reason } from "../../../src/requirements/index.ts";
import { nonexistentKey } from "./fabricated-key.ts";

export type Caller = "missing" | "unknown" | DeniedKey;

/** Callers that must be denied whatever they send. */
export const CALLERS: readonly Caller[] = ["missing", "unknown", ...DENIED_KEYS.map(({ name }) => name)];

/** Why they must be denied. */
export function reasonOf(caller: Caller): Reason {
  return denialOfKey(caller)?.reason ?? "invalid_api_key";
}

/** Number of concurrent requests. */
export const AT_ONCE = 6;

/** @returns `null` if the target has no such key. */
export function credentialsOf(t: Session, caller: Caller): Pick<RequestSpec, "key" | "authorization"> | null {
  if (caller === "missing") return { key: null };
  if (caller === "unknown") return { authorization: `Bearer ${nonexistentKey(t).reveal()}` };
  return t.target.keys[caller] === undefined ? null : { key: caller };
}
