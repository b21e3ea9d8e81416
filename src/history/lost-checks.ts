import { groupBy } from "../core/index.ts";
import { DECIDED, type Status } from "../record/index.ts";
import type { StoredRun } from "./history-file.ts";

/** A check that most runs decided, but not the newest run that selected it. */
export interface LostCheck {
  readonly id: string;
  readonly target: string;
  readonly address: string;
  /** The newest run that selected it. */
  readonly runId: string;
  /** Its status in that run; `null` if the run has no result. */
  readonly now: Status | null;
  /** Number of earlier runs that decided it, and of all earlier runs. */
  readonly decided: number;
  readonly of: number;
}

/** Number of earlier runs to consider. Older runs may have tested a different gateway. */
const MAX_EARLIER = 20;

interface RunStatus {
  readonly run: StoredRun;
  readonly status: Status | null;
}

/**
 * Finds lost checks: more than half of the earlier runs decided them, but the newest did not. Runs that did not select a check
 * do not count.
 *
 * @param runs oldest first.
 * @param ids runs whose targets are considered; `undefined`: all.
 */
export function lostChecks(runs: readonly StoredRun[], ids: ReadonlySet<string> | undefined): LostCheck[] {
  const targets = groupBy(runs, ({ target, address }) => JSON.stringify([target, address]));
  return [...targets.values()]
    .filter((some) => ids === undefined || some.some(({ runId }) => ids.has(runId)))
    .flatMap(ofTarget);
}

function ofTarget(runs: readonly [StoredRun, ...StoredRun[]]): LostCheck[] {
  const [{ target, address }] = runs;
  const known = new Map<string, RunStatus[]>();
  for (const run of runs) {
    const selection = selectionOf(run);
    for (const id of new Set([...known.keys(), ...Object.keys(run.checks.statuses)])) {
      const status = run.checks.statuses[id] ?? null;
      const earlier = known.get(id) ?? [];
      if (status !== null || selection(id, earlier.at(-1)?.run)) known.set(id, [...earlier, { run, status }]);
    }
  }
  return [...known].flatMap(([id, results]): LostCheck[] => {
    const latest = results.at(-1);
    const earlier = results.slice(-1 - MAX_EARLIER, -1);
    const decided = earlier.filter(isDecided).length;
    if (latest === undefined || isDecided(latest) || decided * 2 <= earlier.length) return [];
    return [{ id, target, address, runId: latest.run.runId, now: latest.status, decided, of: earlier.length }];
  });
}

function isDecided({ status }: RunStatus): boolean {
  return status !== null && DECIDED.includes(status);
}

/** Whether a run should have a result for a check: the run selected it, and its version of the harness has it. */
function selectionOf({ checks, harness }: StoredRun): (id: string, earlier: StoredRun | undefined) => boolean {
  const { statuses, notSelected } = checks;
  if (notSelected === null) return () => false;
  const excluded = new Set(notSelected);
  const suites = new Set([...Object.keys(statuses), ...notSelected].map(suiteOf));
  // Load checks depend on the load, which is compared by its metrics.
  return (id, earlier) =>
    !excluded.has(id) && suiteOf(id) !== "load" && suites.has(suiteOf(id)) && earlier?.harness === harness;
}

function suiteOf(id: string): string {
  return id.slice(0, id.indexOf("."));
}
