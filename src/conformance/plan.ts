import type { Target } from "../target/index.ts";
import { type Check, type Instance, type ProbingCheck, suiteOf } from "./check.ts";
import type { Need } from "./need.ts";
import { staticSupply, unblockLines } from "./states.ts";

/** What a suite will send, as far as it is known before anything is sent. */
export interface SuitePlan {
  readonly suite: string;
  readonly checks: number;
  readonly instances: number;
  /** Requests of the instances that can run. */
  readonly requests: number;
  /** Longest wait that the specification imposes, seconds. */
  readonly waitS: number;
  /** Instances that nothing in the target file supplies. */
  readonly blocked: number;
  /** Instances of declared gaps. */
  readonly skipped: number;
}

export interface Plan {
  readonly suites: readonly SuitePlan[];
  readonly requests: number;
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
 * @param hooked whether a hook may supply keys that the file does not have.
 */
export function planOf(instances: readonly Instance[], target: Target, hooked: boolean): Plan {
  const suites = [...new Set(instances.map(({ check }) => suiteOf(check.id)))];
  const shares = new Set<string>();
  const plans = suites.map((suite): SuitePlan => {
    const own = instances.filter(({ check }) => suiteOf(check.id) === suite);
    const states = own.map((instance) => stateOf(instance, target, hooked));
    const runnable = own.flatMap(({ check }, index) =>
      states[index] === "runs" && check.kind === "probe" ? [check] : [],
    );
    return {
      suite,
      checks: new Set(own.map(({ check }) => check.id)).size,
      instances: own.length,
      requests: runnable.reduce((sum, check) => sum + ownRequests(check, target, shares), 0),
      waitS: Math.max(0, ...runnable.map(({ cost }) => cost.waitS ?? 0)),
      blocked: states.filter((state) => state === "blocked").length,
      skipped: states.filter((state) => state === "skipped").length,
    };
  });
  const requests = plans.reduce((sum, plan) => sum + plan.requests, 0);
  const rpm = Math.max(
    target.limits?.rpm ?? DEFAULT_RPM,
    ...Object.values(target.tiers).map(({ limits }) => limits.rpm),
  );
  const paceS = (requests / (rpm * SHARE)) * 60;
  const missing = [...new Set(instances.flatMap(({ check }) => missingOf(check, target, hooked)))];
  return {
    suites: plans,
    requests,
    unblock: missing.map(unblockLines),
    durationS: Math.ceil(Math.max(paceS, ...plans.map(({ waitS }) => waitS))),
  };
}

/** Checks that share a lock judge one scenario: its traffic counts once. */
function ownRequests({ lock, cost }: ProbingCheck, target: Target, shares: Set<string>): number {
  if (lock === undefined) return cost.requests;
  const name = `${typeof lock === "function" ? lock(target) : lock} ${cost.requests}`;
  if (shares.has(name)) return 0;
  shares.add(name);
  return cost.requests;
}

function missingOf(check: Check, target: Target, hooked: boolean): Need[] {
  if (check.kind === "watch") return [];
  return (check.needs ?? []).filter((need) => {
    const supply = staticSupply(need, target);
    return !supply.ok && supply.skipped === undefined && !(hooked && need.startsWith("key."));
  });
}

function stateOf({ check }: Instance, target: Target, hooked: boolean): "runs" | "blocked" | "skipped" {
  if (check.kind === "watch") return "runs";
  const supplies = (check.needs ?? []).map((need) => staticSupply(need, target));
  if (supplies.some((supply) => !supply.ok && supply.skipped !== undefined)) return "skipped";
  return missingOf(check, target, hooked).length === 0 ? "runs" : "blocked";
}
