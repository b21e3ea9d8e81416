/** Possible results of a check. */
export type Status =
  /** The harness itself failed; this says nothing about the gateway. */
  | "harness-error"
  /** A MUST was violated. */
  | "fail"
  /** The verdict flipped when the check was repeated. */
  | "flaky"
  /** A precondition or a control request was missing; the requirement was not tested. */
  | "blocked"
  /** Something else interfered: ambient denials, transport, too few samples. */
  | "inconclusive"
  /** A SHOULD was not met. */
  | "warn"
  | "pass"
  /** Only facts were noted, because the specification does not say what is required. */
  | "observed"
  | "not-applicable";

/** Worst first: a summary shows the worst of its parts, and a pass never hides a blocked check. */
export const STATUSES = [
  "harness-error",
  "fail",
  "flaky",
  "blocked",
  "inconclusive",
  "warn",
  "pass",
  "observed",
  "not-applicable",
] as const satisfies readonly Status[];

/** Statuses with a finding against the gateway that fails a run. */
export const FAILED: readonly Status[] = ["fail", "flaky"];

/** Statuses of checks that judged the gateway. */
export const DECIDED: readonly Status[] = ["pass", "warn", "fail", "flaky"];

/** Statuses without a result about the gateway. */
export const UNDECIDED: readonly Status[] = ["harness-error", "blocked", "inconclusive", "not-applicable"];

export function countStatuses(statuses: readonly Status[]): Record<Status, number> {
  const counts = Object.fromEntries(STATUSES.map((status) => [status, 0])) as Record<Status, number>;
  for (const status of statuses) counts[status]++;
  return counts;
}

/** The worst of these statuses; `not-applicable` if there are none. */
export function worstStatus(statuses: readonly Status[]): Status {
  return STATUSES.find((status) => statuses.includes(status)) ?? "not-applicable";
}
