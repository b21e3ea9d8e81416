import { readingRules } from "../../../checks/index.ts";
import type { Redactor } from "../../../http/recorder/index.ts";
import { eventSecrets, type Sample, servedWorkload, type Workload } from "../../../load/index.ts";
import type { JudgedLoad, RunFolder } from "../../../record/index.ts";
import type { Target } from "../../../target/index.ts";
import type { Permit, PlanPart, RunControl } from "../../control/index.ts";
import { loadParts, planText, sumOf } from "../../control/index.ts";
import { judgeLoad } from "../../judge/index.ts";
import { HLOG, keepEvidence, runLoads } from "../../loads/index.ts";
import { findWorkload } from "../../open/index.ts";
import { loadTargetOf } from "../../preflight/index.ts";

/**
 * The tiers and workloads that a policy requires, before anything is sent.
 *
 * @throws UsageError when one is unknown.
 */
export function policyWorkloads(names: readonly string[], target: Target): Workload[] {
  return names.map((name) => servedWorkload(findWorkload(name), target));
}

/** The maximum that the workloads of a policy send. They run one after another. */
export function policyParts(target: Target, workloads: readonly Workload[]): readonly PlanPart[] {
  return loadParts(target, workloads, POLICY_LENGTH);
}

/** Tiers of a policy do not wait for a minute without other traffic. */
const POLICY_LENGTH = "brief";

/** Finds a workload by the name of its run. */
export function named(workloads: readonly Workload[], target: Target): (name: string) => Workload {
  return (name) => workloads.find((workload) => workload.name === name) ?? servedWorkload(findWorkload(name), target);
}

export interface LoadStep {
  readonly target: Target;
  readonly permit: Permit;
  readonly seed: number;
  readonly redactor: Redactor;
  readonly folder: RunFolder;
  readonly control: RunControl;
  /** A second measurement does not overwrite the histograms of the first. */
  readonly second?: boolean;
}

/** Runs workloads one after another, so that they do not affect each other; judges the results. */
export async function driveLoads(workloads: readonly Workload[], step: LoadStep): Promise<JudgedLoad> {
  const { seed, redactor, folder } = step;
  const { interruption, onProgress } = step.control;
  const { permit } = step;
  const plan = sumOf(policyParts(step.target, workloads), false);
  onProgress({ kind: "note", text: planText(step.target, plan) });
  const target = await loadTargetOf({ ...permit, target: step.target }, workloads);
  const samples: Sample[] = [];
  const runs: JudgedLoad["runs"] = [];
  for (const workload of workloads) {
    if (interruption.signal.aborted) break;
    for (const secret of eventSecrets([workload])) redactor.add(secret);
    const { section, hlog } = await runLoads([workload], {
      target,
      budget: permit.budget,
      seed,
      redactor,
      workers: 0,
      length: POLICY_LENGTH,
      stop: interruption.signal,
      abort: interruption.now,
      extendEnd: interruption.extendEnd,
      ...keepEvidence({ folder, redactor, workloads: [workload], samples, onProgress }),
    });
    // One log per workload: in a shared log their tags would collide.
    const name = HLOG.replace(".", `-${workload.name}.`);
    if (step.second !== true) folder.file(name, hlog);
    runs.push(...section.runs.map((run) => ({ ...run, hlog: name })));
  }
  return judgeLoad({ runs }, samples, readingRules(target), interruption);
}

/** The finished tiers, and the further workloads of the policy. */
export async function runRemainingLoads(
  tiers: JudgedLoad | undefined,
  workloads: readonly Workload[],
  step: LoadStep,
): Promise<JudgedLoad | undefined> {
  const further = workloads.filter(({ name }) => !(tiers?.runs ?? []).some((run) => run.name === name));
  if (further.length === 0 || step.control.interruption.signal.aborted) return tiers;
  const { runs } = await driveLoads(further, step);
  return { runs: [...(tiers?.runs ?? []), ...runs] };
}
