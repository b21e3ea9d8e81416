import type { Target } from "../target/index.ts";
import type { Axes } from "./axes.ts";
import type { Instance, SendingCheck } from "./check.ts";

/** What is kept back of a budget: requests that nothing plans, such as repetitions. */
const KEPT_BACK = 0.05;

export interface BudgetPlan {
  /** Requests that are set aside, by instance. Of instances that share their traffic, the first has all of it. */
  readonly planned: ReadonlyMap<string, number>;
  /** Instances that the budget has no room for, with what they would need, in words. */
  readonly leftOut: ReadonlyMap<string, string>;
  /** A budget with room for everything. */
  readonly needed: number;
}

/** Instances whose traffic is one and the same. */
interface Scenario {
  readonly requests: number;
  readonly instances: Instance[];
}

/**
 * Decides before anything is sent what a budget has room for: cheap checks first, expensive ones by what is left. What is left
 * out is left out as a whole: half of a scenario decides nothing.
 *
 * @param instances that can run.
 * @param left requests that the budget still has.
 * @param rounds that are still to come, each with all of it.
 */
export function planBudget(instances: readonly Instance[], target: Target, left: number, rounds = 1): BudgetPlan {
  const scenarios = scenariosOf(instances, target);
  const planned = new Map<string, number>();
  const leftOut = new Map<string, string>();
  const total = scenarios.reduce((sum, { requests }) => sum + requests, 0);
  let room = Math.floor((left / rounds) * (1 - KEPT_BACK));
  for (const { requests, instances: own } of scenarios.sort((a, b) => a.requests - b.requests)) {
    if (requests <= room) {
      room -= requests;
      for (const [at, { id }] of own.entries()) planned.set(id, at === 0 ? requests : 0);
    } else {
      const what = `about ${requests.toLocaleString("en")} ${requests === 1 ? "request" : "requests"}, and the budget has room for ${room.toLocaleString("en")} after the cheaper checks`;
      for (const { id } of own) leftOut.set(id, what);
    }
  }
  const spent = target.budget.requests - left;
  return { planned, leftOut, needed: spent + Math.ceil((total * rounds) / (1 - KEPT_BACK)) };
}

/** Requests of instances, those that share their traffic counted once. */
export function requestsOf(instances: readonly Instance[], target: Target): number {
  return scenariosOf(instances, target).reduce((sum, { requests }) => sum + requests, 0);
}

function scenariosOf(instances: readonly Instance[], target: Target): Scenario[] {
  const scenarios = new Map<string, Scenario>();
  for (const instance of instances) {
    const { check } = instance;
    if (check.kind === "invariant") continue;
    const requests = ownRequests(check, target, instance.axes);
    const name = check.scenario ?? instance.id;
    const known = scenarios.get(name);
    if (known === undefined) scenarios.set(name, { requests, instances: [instance] });
    else known.instances.push(instance);
  }
  return [...scenarios.values()];
}

function ownRequests({ cost }: SendingCheck, target: Target, axes: Axes): number {
  return typeof cost.requests === "function" ? cost.requests(target, axes) : cost.requests;
}
