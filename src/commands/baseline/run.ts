import { EXIT, formatCount } from "../../core/index.ts";
import { acceptBaseline, baselineText } from "../../policy/index.ts";
import { readRecord, writeAtomically } from "../../record/index.ts";
import type { Outcome } from "../../run/control/index.ts";
import { readBaseline } from "../../run/judge/index.ts";

/** Accepts a stored run into a baseline file. @param file is created or updated. */
export function acceptRun(dir: string, file: string): Outcome {
  const record = readRecord(dir);
  const before = readBaseline(file);
  writeAtomically(file, baselineText(acceptBaseline(before, record)));
  const checks = record.checks.length;
  const runs = (record.load?.runs ?? []).map(({ name }) => name);
  const what = [
    ...(checks === 0 ? [] : [`${checks} check instances`]),
    ...runs.map((name) => `the figures of ${name}`),
  ];
  const replaced = before?.conformance?.from;
  const failed = record.checks.filter(({ status }) => status === "fail").length;
  const lines = [
    `${file}: ${what.join(", ")} of run ${record.runId}`,
    ...(checks > 0 && replaced !== undefined && replaced.runId !== record.runId
      ? [`Replaced the check results of run ${replaced.runId}.`]
      : []),
    ...(failed === 0
      ? []
      : [
          `warning: ${formatCount(failed, "check instance")} of this run failed. In later runs, the same failures are not new failures.`,
        ]),
  ];
  return {
    exitCode: EXIT.pass,
    document: { exitCode: EXIT.pass, file, runId: record.runId, checks, runs },
    text: () => `${lines.join("\n")}\n`,
  };
}
