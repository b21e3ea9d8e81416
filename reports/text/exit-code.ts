import type { CheckResult } from "../../src/record/index.ts";

/** What each exit code means, in a few words. The table in `docs/guide.md` says more. */
const MEANINGS: Readonly<Record<number, string>> = {
  0: "passed",
  1: "failed",
  2: "usage error",
  3: "target unreachable",
  4: "inconclusive",
  5: "internal error",
  130: "interrupted",
  143: "terminated",
};

/** `exit code 4 (inconclusive)`. @param checks of the run: an error may be one of the user's own suite. */
export function describeExitCode(
  exitCode: number,
  checks: readonly Pick<CheckResult, "status" | "reason">[] = [],
): string {
  const meaning = exitCode === 5 && isSuiteError(checks) ? "error in your suite" : MEANINGS[exitCode];
  return `exit code ${exitCode}${meaning === undefined ? "" : ` (${meaning})`}`;
}

/** Whether every error of a run is one of the user's own suite. */
export function isSuiteError(checks: readonly Pick<CheckResult, "status" | "reason">[]): boolean {
  const errors = checks.filter(({ status }) => status === "harness-error");
  return errors.length > 0 && errors.every(({ reason }) => reason?.kind === "suite-error");
}
