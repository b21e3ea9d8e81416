import type { LoadRun, RunRecord } from "../../src/record/index.ts";

/** The load runs that sent something: a run that was interrupted before it began has nothing to show. */
export function startedLoads({ load }: Pick<RunRecord, "load">): LoadRun[] {
  return (load?.runs ?? []).filter(({ phases }) => phases.length > 0);
}
