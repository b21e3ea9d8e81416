import { checkOfPhase, checksOfRun, type JudgedRun, readRecord, worstStatus } from "../../src/record/index.ts";

/** The load runs in a run folder, each with the results of its checks. */
export function judgedRuns(folder: string): JudgedRun[] {
  const { load, checks } = readRecord(folder);
  return (load?.runs ?? []).map((run) => {
    const own = checksOfRun(checks, run);
    const open = own.filter(({ status }) => status !== "pass" && status !== "observed");
    return {
      ...run,
      verdict: worstStatus(own.map(({ status }) => status)) as JudgedRun["verdict"],
      reasons: open.map(({ message }) => ({ text: message })),
      phases: run.phases.map((phase) => {
        const check = checkOfPhase(checks, run, phase);
        if (check === undefined) throw new Error(`the record has no check of the phase ${phase.name}`);
        const { status, message, findings } = check;
        return { ...phase, verdict: status as JudgedRun["verdict"], message, findings, invariants: [] };
      }),
    };
  });
}
