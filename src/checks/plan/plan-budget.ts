import { formatCount, formatNumber } from "../../core/index.ts";
import type { Target } from "../../target/index.ts";
import { type Instance, requestsOfCheck } from "../declare/check.ts";
import type { RunKind } from "../declare/schedule.ts";

/** Share of a plan that is reserved for requests that no check declares, such as repetitions after an ambient denial. */
const RESERVED_SHARE = 1 / 6;

export interface BudgetPlan {
  /** Reserved requests by instance. Of instances that share their traffic, the first holds all of it. */
  readonly planned: ReadonlyMap<string, number>;
  /** Instances that exceed the budget, each with a text that says what it would need. */
  readonly omitted: ReadonlyMap<string, string>;
  /** Maximum number of requests of the checks that fit, in all rounds, including the reserve. */
  readonly requests: number;
  /** The same if all checks fit. */
  readonly needed: number;
}

/** Instances that share the same traffic. */
interface Scenario {
  readonly requests: number;
  readonly instances: Instance[];
}

export interface BudgetPlanOptions {
  readonly target: Target;
  /** Requests left in the budget. */
  readonly left: number;
  /** Remaining rounds; each sends everything. Default 1. */
  readonly rounds?: number | undefined;
  readonly run: RunKind;
}

/**
 * Decides before anything is sent what fits into a budget: cheap checks first, then expensive ones as far as the rest allows.
 * Instances are skipped as a whole: half of a scenario decides nothing.
 *
 * @param instances that can run.
 */
export function planBudget(
  instances: readonly Instance[],
  { target, left, rounds = 1, run }: BudgetPlanOptions,
): BudgetPlan {
  const scenarios = scenariosOf(instances, target, run);
  const planned = new Map<string, number>();
  const omitted = new Map<string, string>();
  const total = scenarios.reduce((sum, { requests }) => sum + requests, 0);
  let room = Math.floor((left / rounds) * (1 - RESERVED_SHARE) + EPSILON);
  let taken = 0;
  for (const { requests, instances: own } of scenarios.sort((a, b) => a.requests - b.requests)) {
    if (requests <= room) {
      room -= requests;
      taken += requests;
      for (const [at, { id }] of own.entries()) planned.set(id, at === 0 ? requests : 0);
    } else {
      const what = `about ${formatCount(requests, "request")}, and the budget has room for ${formatNumber(room)} after the cheaper checks`;
      for (const { id } of own) omitted.set(id, what);
    }
  }
  const withReserve = (requests: number) => Math.ceil((requests * rounds) / (1 - RESERVED_SHARE));
  return { planned, omitted, requests: Math.min(left, withReserve(taken)), needed: withReserve(total) };
}

/** Prevents a rounding error from lowering a product that is exactly a whole number. */
const EPSILON = 1e-6;

/** Requests of instances; shared traffic counts once. */
export function requestsOf(instances: readonly Instance[], target: Target, run: RunKind): number {
  return scenariosOf(instances, target, run).reduce((sum, { requests }) => sum + requests, 0);
}

function scenariosOf(instances: readonly Instance[], target: Target, run: RunKind): Scenario[] {
  const scenarios = new Map<string, Scenario>();
  for (const instance of instances) {
    const { check } = instance;
    if (check.kind === "invariant") continue;
    const requests = requestsOfCheck(check, { target, axes: instance.axes, run });
    const name = check.scenario ?? instance.id;
    const known = scenarios.get(name);
    if (known === undefined) scenarios.set(name, { requests, instances: [instance] });
    else known.instances.push(instance);
  }
  return [...scenarios.values()];
}
