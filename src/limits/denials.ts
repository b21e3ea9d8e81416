import type { Observation } from "../judging/index.ts";
import { limitOfReason, temporaryLimitOf } from "../requirements/index.ts";

export type LimitName = "rate" | "concurrency";

/** Whether a denial is a 429 that does not say which limit was reached. */
export function isUnnamedLimit({ outcome, what, status }: Pick<Observation, "outcome" | "what" | "status">): boolean {
  return outcome === "denied" && status === 429 && limitOfReason(what) === undefined;
}

export const isAdmitted = ({ outcome }: Pick<Observation, "outcome">): boolean =>
  outcome === "admitted" || outcome === "unfinished";

/** Roles of requests that are sent to hit the concurrency limit: for these, an unnamed 429 is attributed to that limit. */
const CONCURRENCY_ROLES: readonly string[] = ["wave", "extra", "background", "busy", "again", "return"];

export type Denied = Pick<Observation, "outcome" | "what" | "status" | "role">;

/**
 * The limit that caused a denial. A 429 that names none is attributed to `unnamed`; by default, the role of the request decides.
 */
export function limitOf(
  one: Denied,
  unnamed: LimitName = CONCURRENCY_ROLES.includes(one.role) ? "concurrency" : "rate",
): LimitName | undefined {
  if (one.outcome !== "denied") return undefined;
  return temporaryLimitOf(one.what) ?? (isUnnamedLimit(one) ? unnamed : undefined);
}

export const isRateDenial = (one: Denied): boolean => limitOf(one) === "rate";
export const isConcurrencyDenial = (one: Denied): boolean => limitOf(one) === "concurrency";

/** Role of requests that we aborted midway. */
export const LEFT = "left";

/** A provider may fail this share of many requests, or one of a few, without any relation to a limit. */
export const STRAY_SHARE = 0.03;

/**
 * Failures unrelated to a limit: 5xx without a named limit, or no response at all, if they are rare. If there are more, this is
 * how the gateway denies.
 */
export function strayFailures<T extends Pick<Observation, "outcome" | "status">>(
  observations: readonly T[],
): readonly T[] {
  const failures = observations.filter(({ outcome, status = 500 }) => outcome === "failed" && status >= 500);
  const most = Math.max(1, Math.floor(observations.length * STRAY_SHARE));
  return failures.length <= most && failures.length < observations.length ? failures : [];
}
