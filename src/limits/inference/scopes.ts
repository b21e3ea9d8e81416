import type { Decision, RequestKind } from "./decision.ts";
import type { Inference } from "./inference.ts";

/** Whether another key, dialect, model or account shares a limit with the main kind of request. */
export type ScopeValue = "shared" | "separate";
export type ScopeName = "key" | "dialect" | "model" | "account";
export type ScopeInferences = Readonly<Record<ScopeName, Inference<ScopeValue>>>;

const SCOPES: readonly ScopeName[] = ["key", "dialect", "model", "account"];

/**
 * Infers scopes from what happened to other requests between two denials of the main kind: a shared limiter denies them too, a
 * separate one admits them.
 *
 * @param decisions in chronological order.
 * @param kinds kinds of requests that the target supports: the others were never going to be sent.
 */
export function readScopes(decisions: readonly Decision[], kinds: readonly RequestKind[]): ScopeInferences {
  const decided = decisions.filter(({ verdict }) => verdict === "admitted" || verdict === "rate");
  const mains = decided.filter(({ kind }) => kind === "main");
  const entries = SCOPES.map((scope) => {
    const between = decided.filter(({ kind, atUs }) => {
      if (kind !== scope) return false;
      const at = mains.findIndex((main) => main.atUs > atUs);
      return at > 0 && mains[at]?.verdict === "rate" && mains[at - 1]?.verdict === "rate";
    });
    const sent = decided.filter(({ kind }) => kind === scope).length;
    if (sent > 0) return [scope, inferScope(between)] as const;
    return [scope, unknown(kinds.includes(scope) ? NOT_REACHED : UNSUPPORTED[scope])] as const;
  });
  return Object.fromEntries(entries) as unknown as ScopeInferences;
}

const NOT_REACHED = "not reached: the search ended before such a request was decided";

/** Why no request of a kind can be sent. */
const UNSUPPORTED: Readonly<Record<ScopeName, string>> = {
  key: "the target has no second key of this account",
  dialect: "the target has no second dialect with the same model",
  model: "the target has no second model",
  account: "the target has no key of another account",
};

function inferScope(between: readonly Decision[]): Inference<ScopeValue> {
  const denied = between.filter(({ verdict }) => verdict === "rate");
  const admitted = between.length - denied.length;
  const first = between[0]?.ordinal;
  const evidence = `between denials of the main kind ${denied.length} of ${between.length} were denied${first === undefined ? "" : ` (first: request ${first})`}`;
  const confidence = Math.max(denied.length, admitted) >= 4 ? "high" : "medium";
  if (denied.length >= 2 && denied.length > admitted * 2) return { value: "shared", confidence, evidence };
  if (admitted >= 2 && admitted > denied.length * 2) return { value: "separate", confidence, evidence };
  return unknown(evidence);
}

const unknown = (evidence: string) => ({ value: null, confidence: "none" as const, evidence });
