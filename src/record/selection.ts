import { isObject } from "../core/index.ts";
import type { RunRecord } from "./run-record.ts";
import type { LoadRun } from "./sections/load-section.ts";

/**
 * Returns a predicate: whether this run selected a check of another run. A run cannot lose a check that it did not select.
 *
 * @param record the run that may lack a check, with its recorded selection.
 * @param other the run that has the check.
 */
export function selectionOf(record: RunRecord, other: RunRecord): (id: string) => boolean {
  const present = new Set(record.checks.map(({ id }) => id));
  const notSelected = new Set(record.notSelected ?? []);
  const suites = new Set([...present, ...notSelected].map(suiteOf));
  // Another version of Gauntlet may not have the check, which is not a loss.
  const isKnown = record.harness.version === other.harness.version;
  const loads = other.load?.runs ?? [];
  return (id) => {
    const owner = ownerOf(id, loads);
    if (owner !== undefined) return record.complete && hasLoad(record, owner);
    if (isComparisonOf(present, id)) return true;
    if (record.notSelected === undefined || notSelected.has(id) || !record.complete) return false;
    return isKnown && suites.has(suiteOf(id));
  };
}

/** Whether an id belongs to a finding of one of these checks. */
function isComparisonOf(checks: ReadonlySet<string>, id: string): boolean {
  for (let end = id.lastIndexOf("."); end > 0; end = id.lastIndexOf(".", end - 1))
    if (checks.has(id.slice(0, end))) return true;
  return false;
}

/** The load that a check belongs to. */
function ownerOf(id: string, loads: readonly LoadRun[]): LoadRun | undefined {
  const owners = loads.filter(({ name }) => id === `load.${name}` || id.startsWith(`load.${name}.`));
  return owners.sort((a, b) => b.name.length - a.name.length)[0];
}

function hasLoad({ load }: RunRecord, expected: LoadRun): boolean {
  return (load?.runs ?? []).some((run) => run.name === expected.name && isSameLoad(run, expected));
}

function suiteOf(id: string): string {
  return id.slice(0, id.indexOf("."));
}

/** Whether two runs sent the same load and judged it by the same thresholds. */
export function isSameLoad(a: LoadRun, b: LoadRun): boolean {
  const definitionOf = ({ kind, engine, limits, workload, length }: LoadRun) =>
    JSON.stringify({ kind, engine, limits, workload, length });
  return definitionOf(a) === definitionOf(b);
}

/** Fields of a workload file that affect the verdict, not the load. */
const PASS_CRITERIA = ["thresholds", "allow"];

/** The load without its pass criteria: figures are comparable even if the thresholds differ. */
export function withoutPassCriteria(run: LoadRun): LoadRun {
  if (!isObject(run.workload)) return run;
  const sent = Object.entries(run.workload).filter(([name]) => !PASS_CRITERIA.includes(name));
  return { ...run, workload: Object.fromEntries(sent) };
}
