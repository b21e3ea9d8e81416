import type { Observation } from "../judging/index.ts";

/** Denials by a limit: they pass by waiting, and load is expected to meet them. */
const LIMIT_REASONS: readonly string[] = ["rate_limit_exceeded", "concurrency_limit_exceeded"];

export const isLimitReason = (reason: string): boolean => LIMIT_REASONS.includes(reason);

/** What a 429 may be named by: everything else names no limit. */
const NAMES_OF_429: readonly string[] = [...LIMIT_REASONS, "budget_exhausted", "quota_exceeded"];

/** Whether a denial is a 429 that does not say which limit was reached. */
export function isUnnamedLimit({ outcome, what, status }: Pick<Observation, "outcome" | "what" | "status">): boolean {
  return outcome === "denied" && status === 429 && !NAMES_OF_429.includes(what);
}

export const isAdmitted = ({ outcome }: Pick<Observation, "outcome">): boolean =>
  outcome === "admitted" || outcome === "unfinished";

/** Roles of requests that are sent to meet the concurrency limit: a 429 without a name that they meet is about that. */
const CONCURRENCY_ROLES: readonly string[] = ["wave", "extra", "background", "busy", "again", "return"];

/** The limit that a denial is about: by its name, else by what the request was sent for. */
function limitOf(one: Observation): "rate" | "concurrency" | undefined {
  const { outcome, what, role } = one;
  if (outcome !== "denied") return undefined;
  if (what === "rate_limit_exceeded") return "rate";
  if (what === "concurrency_limit_exceeded") return "concurrency";
  if (!isUnnamedLimit(one)) return undefined;
  return CONCURRENCY_ROLES.includes(role) ? "concurrency" : "rate";
}

export const isRateDenial = (one: Observation): boolean => limitOf(one) === "rate";
export const isConcurrencyDenial = (one: Observation): boolean => limitOf(one) === "concurrency";

/** Role of requests that we left in the middle. */
export const LEFT = "left";
