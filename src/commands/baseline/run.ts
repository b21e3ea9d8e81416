import { EXIT } from "../../core/index.ts";
import { acceptBaseline, baselineText } from "../../policy/index.ts";
import { readRecord, writeAtomically } from "../../record/index.ts";
import type { Outcome } from "../../run/control/index.ts";
import { readBaseline } from "../../run/judge/index.ts";

/** Accepts a stored run into a baseline file. @param file is created or updated. */
export function acceptRun(dir: string, file: string): Outcome {
  const record = readRecord(dir);
  writeAtomically(file, baselineText(acceptBaseline(readBaseline(file), record)));
  const checks = record.checks.length;
  const runs = (record.load?.runs ?? []).map(({ name }) => name);
  const what = [
    ...(checks === 0 ? [] : [`${checks} check instances`]),
    ...runs.map((name) => `the figures of ${name}`),
  ];
  return {
    exitCode: EXIT.pass,
    document: { exitCode: EXIT.pass, file, runId: record.runId, checks, runs },
    text: () => `${file}: ${what.join(", ")} of run ${record.runId}\n`,
  };
}
