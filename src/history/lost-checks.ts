import { groupBy } from "../core/index.ts";
import { DECIDED, type Status } from "../record/index.ts";
import type { StoredRun } from "./history-file.ts";

/** A check that runs usually decided and the newest run that was to judge it did not. */
export interface LostCheck {
  readonly id: string;
  readonly target: string;
  readonly address: string;
  /** The newest run that was to judge it. */
  readonly runId: string;
  /** What it came to there; `null`: the run has no result of it. */
  readonly now: Status | null;
  /** Of so many earlier runs, so many decided it. */
  readonly decided: number;
  readonly of: number;
}

/** Earlier runs that are looked at: older ones tell of another gateway. */
const MAX_EARLIER = 20;

interface Known {
  readonly run: StoredRun;
  readonly status: Status | null;
}

/**
 * Checks that got lost: more than half of the earlier runs decided them. A run that did not select a check says nothing of it.
 *
 * @param runs oldest first.
 * @param ids runs whose targets are looked at; `undefined`: all.
 */
export function lostChecks(runs: readonly StoredRun[], ids: ReadonlySet<string> | undefined): LostCheck[] {
  const targets = groupBy(runs, ({ target, address }) => JSON.stringify([target, address]));
  return [...targets.values()]
    .filter((some) => ids === undefined || some.some(({ runId }) => ids.has(runId)))
    .flatMap(ofTarget);
}

function ofTarget(runs: readonly [StoredRun, ...StoredRun[]]): LostCheck[] {
  const [{ target, address }] = runs;
  const known = new Map<string, Known[]>();
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

function isDecided({ status }: Known): boolean {
  return status !== null && DECIDED.includes(status);
}

/** Whether a run was to judge a check of which it has no result: it selected it, and its version of the harness has it. */
function selectionOf({ checks, harness }: StoredRun): (id: string, earlier: StoredRun | undefined) => boolean {
  const { statuses, notSelected } = checks;
  if (notSelected === null) return () => false;
  const left = new Set(notSelected);
  const suites = new Set([...Object.keys(statuses), ...notSelected].map(suiteOf));
  // The checks of a load depend on the load; of that, the figures are compared.
  return (id, earlier) =>
    !left.has(id) && suiteOf(id) !== "load" && suites.has(suiteOf(id)) && earlier?.harness === harness;
}

function suiteOf(id: string): string {
  return id.slice(0, id.indexOf("."));
}
