import type { LoadRun, RunRecord } from "../../src/record/index.ts";

/** The load runs that sent something: a run that was interrupted before it began has nothing to show. */
export function startedLoads({ load }: Pick<RunRecord, "load">): LoadRun[] {
  return (load?.runs ?? []).filter(({ phases }) => phases.length > 0);
}

/** Commands that only send load; `merge` joins the shards of one. */
const LOAD_COMMANDS: readonly string[] = ["load", "merge"];

/** Whether a record is of a load without conformance checks. Such a page has no coverage of requirements. */
export const isLoadOnly = ({ command }: Pick<RunRecord, "command">): boolean => LOAD_COMMANDS.includes(command);
