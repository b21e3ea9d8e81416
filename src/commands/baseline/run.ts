import { EXIT, formatCount } from "../../core/index.ts";
import { acceptBaseline, type BaselineFile, baselineText } from "../../policy/index.ts";
import { type RunRecord, readRecord, writeAtomically } from "../../record/index.ts";
import type { Outcome } from "../../run/control/index.ts";
import { readBaseline } from "../../run/judge/index.ts";

/** Accepts a stored run into a baseline file. @param file is created or updated. */
export function acceptRun(dir: string, file: string): Outcome {
  const record = readRecord(dir);
  const before = readBaseline(file);
  const after = acceptBaseline(before, record);
  writeAtomically(file, baselineText(after));
  const checks = record.checks.length;
  const runs = (record.load?.runs ?? []).map(({ name }) => name);
  const what = [
    ...(checks === 0 ? [] : [`${checks} check instances`]),
    ...runs.map((name) => `the figures of ${name}`),
  ];
  return {
    exitCode: EXIT.pass,
    document: { exitCode: EXIT.pass, file, runId: record.runId, checks, runs },
    text: () =>
      `${[...verdictWarning(record), ...replacedWarning(before, after)].join("")}${file}: ${what.join(", ")} of run ${record.runId}\n`,
  };
}

/** Checks that fail in the baseline do not count as newly failing later. */
function verdictWarning({ verdict, checks }: RunRecord): string[] {
  if (verdict.result === "pass") return [];
  const failed = checks.filter(({ status }) => status === "fail" || status === "flaky").length;
  const what =
    failed === 0
      ? ""
      : ` ${formatCount(failed, "failed check instance")} will not count as newly failing in later runs.`;
  return [`warning: the verdict of this run is ${verdict.result}.${what}\n`];
}

/** Warns about runs that are no longer in the baseline. */
function replacedWarning(before: BaselineFile | undefined, after: BaselineFile): string[] {
  const kept = new Set(runsOf(after));
  const replaced = [...new Set(before === undefined ? [] : runsOf(before))].filter((run) => !kept.has(run));
  return replaced.length === 0
    ? []
    : [`warning: replaced ${replaced.length === 1 ? "run" : "runs"} ${replaced.join(", ")} in the baseline\n`];
}

const runsOf = ({ conformance, performance }: BaselineFile): string[] =>
  [...(conformance === null ? [] : [conformance]), ...performance].map(({ from }) => from.runId);
