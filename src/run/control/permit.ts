import { RequestBudget } from "../../budget/index.ts";
import { ConfigError, formatCount, formatNumber, UsageError } from "../../core/index.ts";
import { addressesOf, isLoopback, type Target } from "../../target/index.ts";
import { planText, requestsOnly, type SendingPlan, sumOf } from "./plan.ts";

/**
 * What a command may send to a target. Every sender needs the budget of a permit, and only this module creates one. So it is
 * certain before the first request that the plan fits into the budget of the target file, and that load is authorized.
 */
export interface Permit {
  readonly target: Target;
  readonly plan: SendingPlan;
  readonly budget: RequestBudget;
  /**
   * Permits an additional plan, already printed, if it fits into the rest of the target's budget.
   *
   * @returns whether it may be sent.
   */
  more(plan: SendingPlan): boolean;
}

/** `checks`: below the limits, or on accounts reserved for them. `load`: as fast as the workload says. */
export type Purpose = "checks" | "load";

/**
 * @throws ConfigError if load would go to another host and the target does not have `authorized: true`.
 * @throws UsageError if the plan exceeds the budget of the target.
 */
export function permitFor(target: Target, plan: SendingPlan, purpose: Purpose): Permit {
  if (purpose === "load") assertLoadAllowed(target);
  assertFits(target, plan);
  const budget = new RequestBudget({ requests: plan.requests, outputTokens: target.budget.outputTokens });
  return {
    target,
    plan,
    budget,
    more({ requests }) {
      if (budget.allowed.requests + requests > target.budget.requests) return false;
      budget.grant(requests);
      return true;
    },
  };
}

/**
 * The permit of a search, which does not know its number of requests in advance. It stops when the budget is used up.
 *
 * @param most maximum number of requests; default: the budget of the target.
 */
export function searchPermit(target: Target, name: string, most = Number.POSITIVE_INFINITY): Permit {
  const requests = Math.min(most, target.budget.requests);
  return permitFor(target, sumOf([{ ...requestsOnly(name, requests), durationS: undefined }], true), "load");
}

/** Why a plan must not be sent; `undefined` if it may be. */
export function refusalOf(target: Target, plan: SendingPlan, purpose: Purpose): string | undefined {
  try {
    permitFor(target, plan, purpose);
    return undefined;
  } catch (error) {
    if (error instanceof ConfigError || error instanceof UsageError) return error.message;
    throw error;
  }
}

/** The line that is printed before anything is sent. */
export function permitLine({ target, plan }: Permit): string {
  return planText(target, plan);
}

/** @throws ConfigError if the host is not this machine and the target does not have `authorized: true`. */
function assertLoadAllowed(target: Target): void {
  const other = addressesOf(target).find((url) => !isLoopback(url));
  if (other !== undefined && !target.authorized) {
    throw new ConfigError([
      {
        file: target.source,
        path: "authorized",
        message: `load would go to ${new URL(other).host}, which is not this machine.`,
        hint: "Set `authorized: true` in the target file if you are allowed to load this host.",
      },
    ]);
  }
}

function assertFits({ budget }: Target, { requests, outputTokens }: SendingPlan): void {
  const tooMuch = [
    ...(requests > budget.requests
      ? [
          `the plan has ${formatCount(requests, "request")}, the budget of the target is ${formatNumber(budget.requests)}`,
        ]
      : []),
    ...(outputTokens > budget.outputTokens
      ? [
          `the plan may produce ${formatCount(outputTokens, "output token")}, the budget of the target is ${formatNumber(budget.outputTokens)}`,
        ]
      : []),
  ];
  if (tooMuch.length === 0) return;
  const enough = [
    ...(requests > budget.requests ? [`requests: ${requests}`] : []),
    ...(outputTokens > budget.outputTokens ? [`outputTokens: ${outputTokens}`] : []),
  ];
  throw new UsageError(tooMuch.join("; "), {
    hint: `Set \`budget: { ${enough.join(", ")} }\` in the target file, or choose less load.`,
  });
}
