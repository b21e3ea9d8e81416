import { type ClientRun, judgeScenario, SCENARIOS } from "../../client-conformance/index.ts";
import { isObject } from "../../core/index.ts";
import { type CheckResult, RECORDINGS, type StoredRun } from "../../record/index.ts";
import { truncatedFile } from "../../run/record/index.ts";

/** Judges the recorded runs of a client again. If the run was interrupted, results without a recording stay unchanged. */
export function rejudgeClient({ record, recordings }: StoredRun, dir: string): CheckResult[] {
  const configuration = record.configuration.value;
  const maxAttempts = isObject(configuration) ? configuration["mostAttempts"] : undefined;
  return record.checks.map((before) => {
    const scenario = SCENARIOS.find(({ name }) => before.id === `client.${name}`);
    const [runs] = recordings.get(before.id) ?? [];
    if (scenario !== undefined && runs === undefined && record.complete)
      throw truncatedFile(dir, RECORDINGS, `the recording of ${before.id}`);
    if (scenario === undefined || runs === undefined || typeof maxAttempts !== "number") return before;
    // Written by this program, in the same shape as in memory.
    return judgeScenario(scenario, runs as unknown as readonly ClientRun[], { mostAttempts: maxAttempts });
  });
}
