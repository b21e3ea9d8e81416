import type { LoadRun, RunRecord } from "../record/index.ts";
import { isSameLoad } from "./stored-metrics.ts";

/**
 * Which checks a run was to judge, of those that another run judged. What a run did not select, it cannot have lost.
 *
 * @param record the run that may lack a check, with what it recorded of its selection.
 * @param other the run that has it.
 */
export function selectionOf(record: RunRecord, other: RunRecord): (id: string) => boolean {
  const present = new Set(record.checks.map(({ id }) => id));
  const left = new Set(record.notSelected ?? []);
  const suites = new Set([...present, ...left].map(suiteOf));
  // Another version has other checks; what it does not know is no loss of the gateway's.
  const isKnown = record.harness.version === other.harness.version;
  const loads = other.load?.runs ?? [];
  return (id) => {
    const owner = ownerOf(id, loads);
    if (owner !== undefined) return record.complete && hasLoad(record, owner);
    if (isComparisonOf(present, id)) return true;
    if (record.notSelected === undefined || left.has(id) || !record.complete) return false;
    return isKnown && suites.has(suiteOf(id));
  };
}

/** Whether an id is that of a comparison inside one of these checks. */
function isComparisonOf(checks: ReadonlySet<string>, id: string): boolean {
  for (let end = id.lastIndexOf("."); end > 0; end = id.lastIndexOf(".", end - 1))
    if (checks.has(id.slice(0, end))) return true;
  return false;
}

/** The load that a check is about. */
function ownerOf(id: string, loads: readonly LoadRun[]): LoadRun | undefined {
  const owners = loads.filter(({ name }) => id === `load.${name}` || id.startsWith(`load.${name}.`));
  return owners.sort((a, b) => b.name.length - a.name.length)[0];
}

function hasLoad({ load }: RunRecord, wanted: LoadRun): boolean {
  return (load?.runs ?? []).some((run) => run.name === wanted.name && isSameLoad(run, wanted));
}

function suiteOf(id: string): string {
  return id.slice(0, id.indexOf("."));
}
