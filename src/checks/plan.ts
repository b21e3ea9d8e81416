import type { Target } from "../target/index.ts";
import { dialectOf, type Instance, needsOf, suiteOf } from "./check.ts";
import { planBudget, requestsOf } from "./plan-budget.ts";
import { staticFixture } from "./static-fixture.ts";

/** What a suite will send, as far as it is known before anything is sent. */
export interface SuitePlan {
  readonly suite: string;
  readonly checks: number;
  readonly instances: number;
  /** Requests of the instances that can run. */
  readonly requests: number;
  /** Longest wait that the specification imposes, seconds. */
  readonly waitS: number;
  /** Instances that nothing in the target file has a fixture for. */
  readonly blocked: number;
  /** Instances of declared gaps. */
  readonly skipped: number;
}

export interface Plan {
  readonly suites: readonly SuitePlan[];
  readonly requests: number;
  /** Instances that the budget has no room for. */
  readonly leftOut: readonly string[];
  /** Budget, in requests, that has room for everything. */
  readonly budgetNeeded: number;
  /** Lines of the target file that would unblock what is blocked, once per state. */
  readonly unblock: readonly (readonly string[])[];
  /** How long it takes at least, seconds: the longest waits, and the pace below the account's rate. */
  readonly durationS: number;
}

/** Share of a rate that conformance traffic uses. */
const SHARE = 0.85;
/** The default tier's rate, which is assumed where the target does not tell. */
const DEFAULT_RPM = 300;

/**
 * Says what a selection will send and how long that takes. Sends nothing and starts nothing.
 *
 * @param options `hooked`: whether a hook may make keys that the file does not have. `rounds`: how often all is sent.
 */
export function planOf(
  instances: readonly Instance[],
  target: Target,
  { hooked, rounds = 1 }: { readonly hooked: boolean; readonly rounds?: number },
): Plan {
  const suites = [...new Set(instances.map(({ check }) => suiteOf(check.id)))];
  const runnable = instances.filter((instance) => stateOf(instance, target, hooked) === "runs");
  const hasRoom = planBudget(runnable, target, target.budget.requests, rounds);
  const plans = suites.map((suite): SuitePlan => {
    const own = instances.filter(({ check }) => suiteOf(check.id) === suite);
    const states = own.map((instance) => stateOf(instance, target, hooked));
    const running = own.filter((_, index) => states[index] === "runs");
    const waits = running.map(({ check }) => (check.kind === "sending" ? (check.cost.waitS ?? 0) : 0));
    return {
      suite,
      checks: new Set(own.map(({ check }) => check.id)).size,
      instances: own.length,
      requests: requestsOf(running, target),
      waitS: Math.max(0, ...waits),
      blocked: states.filter((state) => state === "blocked").length,
      skipped: states.filter((state) => state === "skipped").length,
    };
  });
  // Not the sum over the suites: a scenario that checks of two suites judge is sent once.
  const requests = requestsOf(runnable, target);
  const rpm = Math.max(
    target.limits?.rpm ?? DEFAULT_RPM,
    ...Object.values(target.tiers).map(({ limits }) => limits.rpm),
  );
  const paceS = (requests / (rpm * SHARE)) * 60;
  const missing = instances
    .flatMap((instance) => missingOf(instance, target, hooked))
    .filter(({ skipped }) => skipped === undefined);
  const lines = new Map(missing.map(({ unblock }) => [unblock.join("\n"), unblock]));
  return {
    suites: plans,
    requests,
    leftOut: [...hasRoom.leftOut.keys()],
    budgetNeeded: hasRoom.needed,
    unblock: [...lines.values()],
    durationS: Math.ceil(Math.max(paceS, ...plans.map(({ waitS }) => waitS))),
  };
}

/** What an instance lacks, and nobody can make. */
function missingOf(instance: Instance, target: Target, hooked: boolean) {
  return needsOf(instance, target).flatMap((need) => {
    const fixture = staticFixture(need, target, dialectOf(instance, target));
    return fixture.ok || (hooked && fixture.skipped === undefined && need.startsWith("key.")) ? [] : [fixture];
  });
}

/** Whether an instance can run with the fixtures of the target file, or of a hook. */
export function stateOf(instance: Instance, target: Target, hooked: boolean): "runs" | "blocked" | "skipped" {
  const missing = missingOf(instance, target, hooked);
  if (missing.some(({ skipped }) => skipped !== undefined)) return "skipped";
  return missing.length === 0 ? "runs" : "blocked";
}
