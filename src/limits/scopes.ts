import type { Decision } from "./decision.ts";
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
 */
export function readScopes(decisions: readonly Decision[]): ScopeInferences {
  const decided = decisions.filter(({ verdict }) => verdict === "admitted" || verdict === "rate");
  const mains = decided.filter(({ kind }) => kind === "main");
  const entries = SCOPES.map((scope) => {
    const between = decided.filter(({ kind, atUs }) => {
      if (kind !== scope) return false;
      const at = mains.findIndex((main) => main.atUs > atUs);
      return at > 0 && mains[at]?.verdict === "rate" && mains[at - 1]?.verdict === "rate";
    });
    return [scope, inferScope(between, decided.filter(({ kind }) => kind === scope).length)] as const;
  });
  return Object.fromEntries(entries) as unknown as ScopeInferences;
}

function inferScope(between: readonly Decision[], sent: number): Inference<ScopeValue> {
  if (sent === 0) return { value: null, confidence: "none", evidence: "none was sent: the target names none" };
  const denied = between.filter(({ verdict }) => verdict === "rate");
  const admitted = between.length - denied.length;
  const first = between[0]?.ordinal;
  const evidence = `between denials of the main kind ${denied.length} of ${between.length} were denied${first === undefined ? "" : ` (first: request ${first})`}`;
  const confidence = Math.max(denied.length, admitted) >= 4 ? "high" : "medium";
  if (denied.length >= 2 && denied.length > admitted * 2) return { value: "shared", confidence, evidence };
  if (admitted >= 2 && admitted > denied.length * 2) return { value: "separate", confidence, evidence };
  return { value: null, confidence: "none", evidence };
}
