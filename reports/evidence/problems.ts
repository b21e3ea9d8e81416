import { groupBy } from "../../src/core/index.ts";
import {
  type Cause,
  type CheckChange,
  type CheckResult,
  explainedBy,
  type Finding,
  type RunRecord,
  type Status,
} from "../../src/record/index.ts";
import { checkOfExchange } from "../causes.ts";

/** Statuses whose evidence is shown, worst first. */
const SHOWN: readonly Status[] = ["harness-error", "fail", "flaky", "inconclusive", "warn"];

/** Instances of one check declaration with the same status and title. */
export interface ProblemGroup {
  readonly id: string;
  readonly check: string;
  readonly title: string;
  readonly status: Status;
  readonly instances: readonly CheckResult[];
}

/** A cause with the results that it explains; a result with two causes is listed under the first. */
export interface CauseGroup {
  readonly cause: Cause;
  readonly instances: readonly CheckResult[];
  /** Results of this cause that are listed under an earlier cause. */
  readonly shownBefore: readonly CheckResult[];
}

export function causeGroupsOf({ causes, checks }: RunRecord): CauseGroup[] {
  const byId = new Map(checks.map((check) => [check.id, check]));
  const before = new Set<string>();
  return causes.map((cause) => {
    const all = cause.checks.flatMap((id) => byId.get(id) ?? []);
    const instances = all.filter(({ id }) => !before.has(id));
    for (const { id } of instances) before.add(id);
    return { cause, instances, shownBefore: all.filter((check) => !instances.includes(check)) };
  });
}

/**
 * Whether results affect the verdict. A comparison judges only what changed, so a failure that both sides have does not.
 *
 * @param ids of the results.
 */
export function isDecisive({ command, comparison }: RunRecord, ids: readonly string[]): boolean {
  if (command !== "compare" || comparison === undefined) return true;
  const { newlyFailing, worse, lost } = comparison.checks;
  return ids.some((id) => [...newlyFailing, ...worse, ...lost].some((change) => isOfCheck(change, id)));
}

/** Whether a change concerns this check instance or one of its findings. The id of a finding begins with that of its check instance. */
export const isOfCheck = (change: CheckChange, id: string): boolean =>
  change.id === id || change.id.startsWith(`${id}.`);

/** Problems without a cause, worst first, grouped by check and title: each threshold has a separate title. */
export function unexplainedProblems(record: RunRecord): ProblemGroup[] {
  const explained = explainedBy(record.causes);
  const shown = SHOWN.flatMap((status) =>
    record.checks.filter((check) => check.status === status && !explained.has(check.id)),
  );
  const groups = groupBy(shown, ({ status, check, title }) => JSON.stringify([check, status, title]));
  return [...groups].map(([id, instances]) => {
    const [{ check, title, status }] = instances;
    return { id, check, title, status, instances };
  });
}

/** Problems without a cause that affect the verdict. */
export const decisiveProblems = (record: RunRecord): ProblemGroup[] =>
  unexplainedProblems(record).filter(({ instances }) =>
    isDecisive(
      record,
      instances.map(({ id }) => id),
    ),
  );

/** Identical violated findings, merged, with their number and first occurrence. */
export interface Broken {
  readonly finding: Finding;
  readonly times: number;
}

export function brokenOf(check: CheckResult): Broken[] {
  const byText = new Map<string, { finding: Finding; times: number }>();
  for (const finding of check.findings) {
    if (finding.outcome !== "broken") continue;
    const key = JSON.stringify([
      finding.requirements,
      finding.pointer,
      finding.expected,
      finding.observed,
      finding.subject,
      finding.response,
    ]);
    const known = byText.get(key);
    if (known === undefined) byText.set(key, { finding, times: 1 });
    else known.times++;
  }
  return [...byText.values()].sort((a, b) => Number(b.finding.weight === "fail") - Number(a.finding.weight === "fail"));
}

/** Maximum number of exchanges of one finding that are shown. */
const MAX_EVIDENCE = 5;
/** Maximum number of exchanges of one check that are searched for the control request. */
const MAX_CANDIDATES = 24;
/** Maximum number of instances shown with all their evidence. The others are listed; the run folder has everything. */
export const MAX_SHOWN = 60;

/** The instances whose evidence is shown: some of every group before more of any one. */
export function shownInstances(groups: readonly Pick<ProblemGroup, "instances">[]): ReadonlySet<string> {
  const shown = new Set<string>();
  const deepest = Math.max(0, ...groups.map(({ instances }) => instances.length));
  for (let depth = 0; depth < deepest && shown.size < MAX_SHOWN; depth++) {
    for (const { instances } of groups) {
      const instance = instances[depth];
      if (instance !== undefined && shown.size < MAX_SHOWN) shown.add(instance.id);
    }
  }
  return shown;
}

/** Ids of the exchanges that a report of this record shows. */
export function shownExchanges(record: RunRecord): ReadonlySet<string> {
  const groups = [...causeGroupsOf(record), ...unexplainedProblems(record)];
  const shown = shownInstances(groups);
  const ids = new Set<string>();
  for (const cause of record.causes.slice(0, MAX_SHOWN)) {
    if (cause.exchange !== undefined) ids.add(cause.exchange);
    for (const id of checkOfExchange(record, cause)?.exchanges.slice(0, MAX_CANDIDATES) ?? []) ids.add(id);
  }
  for (const check of groups.flatMap(({ instances }) => instances)) {
    if (!shown.has(check.id)) continue;
    for (const { control } of check.findings) if (control !== undefined) ids.add(control);
    for (const { finding } of brokenOf(check)) for (const id of finding.exchanges.slice(0, MAX_EVIDENCE)) ids.add(id);
    for (const id of check.exchanges.slice(0, MAX_CANDIDATES)) ids.add(id);
  }
  return ids;
}
