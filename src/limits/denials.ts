import type { Observation } from "../judging/index.ts";
import { DENIALS } from "../requirements/index.ts";

/** Denials by a limit: waiting resolves them, and load is expected to hit them. */
const LIMIT_REASONS: readonly string[] = ["rate_limit_exceeded", "concurrency_limit_exceeded"];

export const isLimitReason = (reason: string): boolean => LIMIT_REASONS.includes(reason);

/** Reasons that say which limit a 429 is about. */
const LIMIT_NAMES: readonly string[] = DENIALS.flatMap((entry) => ("limit" in entry ? [entry.reason] : []));

export const namesLimit = (reason: string | undefined): boolean => reason !== undefined && LIMIT_NAMES.includes(reason);

/** Whether a denial is a 429 that does not say which limit was reached. */
export function isUnnamedLimit({ outcome, what, status }: Pick<Observation, "outcome" | "what" | "status">): boolean {
  return outcome === "denied" && status === 429 && !namesLimit(what);
}

export const isAdmitted = ({ outcome }: Pick<Observation, "outcome">): boolean =>
  outcome === "admitted" || outcome === "unfinished";

/** Roles of requests that are sent to hit the concurrency limit: for these, an unnamed 429 is attributed to that limit. */
const CONCURRENCY_ROLES: readonly string[] = ["wave", "extra", "background", "busy", "again", "return"];

/** The limit behind a denial: by its name, otherwise by the purpose of the request. */
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

/** Role of requests that we aborted midway. */
export const LEFT = "left";
