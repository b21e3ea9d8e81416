/** What can become of a check. */
export type Status =
  /** The harness itself failed; nothing is said about the gateway. */
  | "harness-error"
  /** A MUST was broken. */
  | "fail"
  /** The verdict flipped when the check was repeated. */
  | "flaky"
  /** A precondition or a control request was missing; the requirement was not tested. */
  | "blocked"
  /** Something else got in the way: ambient denials, transport, too few samples. */
  | "inconclusive"
  /** A SHOULD was not met. */
  | "warn"
  | "pass"
  /** Only facts were noted, because the specification is silent. */
  | "observed"
  | "not-applicable";

/** Worst first: a summary shows the worst of what it sums up, and pass never hides blocked. */
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

/** Under these something was found against the gateway that fails a run. */
export const FAILED: readonly Status[] = ["fail", "flaky"];

/** Statuses with which a check has judged the gateway. */
export const DECIDED: readonly Status[] = ["pass", "warn", "fail", "flaky"];

/** Under these nothing was found out about the check. */
export const UNDECIDED: readonly Status[] = ["harness-error", "blocked", "inconclusive", "not-applicable"];

export function countStatuses(statuses: readonly Status[]): Record<Status, number> {
  const counts = Object.fromEntries(STATUSES.map((status) => [status, 0])) as Record<Status, number>;
  for (const status of statuses) counts[status]++;
  return counts;
}

/** The worst of some statuses; `not-applicable` of none. */
export function worstStatus(statuses: readonly Status[]): Status {
  return STATUSES.find((status) => statuses.includes(status)) ?? "not-applicable";
}
