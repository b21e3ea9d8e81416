import { type Instance, type Plan, planOf, type RunKind } from "../../checks/index.ts";
import type { Workload } from "../../load/index.ts";
import type { Target } from "../../target/index.ts";
import type { SendingPlan } from "../control/index.ts";
import { checkPart, inTurn, sumOf } from "../control/index.ts";
import { policyParts, policyWorkloads } from "./loads/policy-load.ts";
import { planTiers, type TierPlan } from "./loads/run-tiers.ts";

/** Everything that a run sends, as known before the first request. */
export interface RunPlan {
  readonly checks: Plan;
  /** `undefined` if the run does not load the tiers. */
  readonly tiers: TierPlan | undefined;
  /** Workloads of the policy that are not already among the tiers. */
  readonly workloads: readonly Workload[];
  readonly run: RunKind;
  readonly sending: SendingPlan;
}

interface RunPlanOptions {
  readonly instances: readonly Instance[];
  readonly rounds: number;
  /** Whether a hook or the embedded gateway can create keys that the target file does not have. */
  readonly canCreateKeys: boolean;
  readonly isQuick: boolean;
  /** Whether the run also loads the tiers. */
  readonly tiers?: boolean | undefined;
  /** Whether the tiers are loaded while the checks run. */
  readonly isConcurrent: boolean;
  /** Names of the workloads of a policy. */
  readonly load: readonly string[];
}

/** Plans a run: its checks, the load over the tiers, and the load of its policy. */
export function planRun(
  target: Target,
  { instances, rounds, canCreateKeys, isQuick, isConcurrent, tiers: hasTiers, load }: RunPlanOptions,
): RunPlan {
  const checksWith = (includesLoad: boolean) =>
    planOf(instances, target, { canCreateKeys, rounds, run: { isQuick, includesLoad } });
  const named = policyWorkloads(load, target);
  const before = [checkPart(checksWith(true), target), ...policyParts(target, named)];
  const tiers = hasTiers === true ? planTiers(target, isQuick, before) : undefined;
  const includesLoad = (tiers?.workloads.length ?? 0) > 0;
  const workloads = named.filter(({ name }) => !tiers?.workloads.some((tier) => tier.name === name));
  const checks = checksWith(includesLoad);
  const own = [checkPart(checks, target)];
  const ofTiers = tiers?.parts ?? [];
  const ofPolicy = sumOf(policyParts(target, workloads), false);
  const sending = isConcurrent
    ? inTurn([sumOf([...own, ...ofTiers], true), ofPolicy])
    : inTurn([sumOf(own, false), sumOf(ofTiers, true), ofPolicy]);
  return { checks, tiers, workloads, run: { isQuick, includesLoad }, sending };
}
