import { RequestBudget } from "../budget/index.ts";
import { ConfigError, UsageError } from "../core/index.ts";
import { isLoopback, type Target } from "../target/index.ts";
import { planText, requestsOnly, type SendingPlan, sumOf } from "./plan.ts";

/**
 * What a command may send to a target. No sender works without the budget of one, and there is no other way to get a budget: that
 * the plan fits into the budget of the target file, and that load was agreed to, is thereby settled before the first request.
 */
export interface Permit {
  readonly target: Target;
  readonly plan: SendingPlan;
  readonly budget: RequestBudget;
  /**
   * Permits what comes in addition, after its own line was printed, where the budget of the target still has room for it.
   *
   * @returns whether it may be sent.
   */
  more(plan: SendingPlan): boolean;
}

/** `checks`: below the limits, or on accounts set aside for them. `load`: as fast as its workload has it. */
export type Purpose = "checks" | "load";

/**
 * @throws ConfigError for load on a host that is not this machine where the target does not say `authorized: true`.
 * @throws UsageError when the plan exceeds the budget of the target.
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
 * The permit of a search, which cannot know what it takes: it ends where the budget does.
 *
 * @param most that it asks for; default: the budget of the target.
 */
export function searchPermit(target: Target, name: string, most = Number.POSITIVE_INFINITY): Permit {
  const requests = Math.min(most, target.budget.requests);
  return permitFor(target, sumOf([{ ...requestsOnly(name, requests), durationS: undefined }], true), "load");
}

/** Why a plan may not be sent, or `undefined`. */
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

/** @throws ConfigError when the host is not this machine and the target does not say `authorized: true`. */
function assertLoadAllowed(target: Target): void {
  if (!isLoopback(target.baseUrl) && !target.authorized) {
    throw new ConfigError([
      {
        file: target.source,
        path: "authorized",
        message: `load goes to ${new URL(target.baseUrl).host}, which is not this machine.`,
        hint: "Say `authorized: true` in the target file when you may load it.",
      },
    ]);
  }
}

function assertFits({ budget }: Target, { requests, outputTokens }: SendingPlan): void {
  const tooMuch = [
    ...(requests > budget.requests
      ? [`the plan has ${requests} requests, the budget of the target is ${budget.requests}`]
      : []),
    ...(outputTokens > budget.outputTokens
      ? [`the plan may produce ${outputTokens} output tokens, the budget of the target is ${budget.outputTokens}`]
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
