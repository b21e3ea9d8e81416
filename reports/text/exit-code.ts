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

/** `exit code 4 (inconclusive)`. */
export function describeExitCode(exitCode: number): string {
  const meaning = MEANINGS[exitCode];
  return `exit code ${exitCode}${meaning === undefined ? "" : ` (${meaning})`}`;
}
