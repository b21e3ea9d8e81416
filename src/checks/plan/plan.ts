import { STATES, type State, type Target } from "../../target/index.ts";
import { dialectOf, type Instance, needsOf, suiteOf, waitSOf } from "../declare/check.ts";
import { FULL_RUN, type RunKind } from "../declare/schedule.ts";
import { verificationRequests } from "../fixtures/role-verification.ts";
import { staticFixture } from "../fixtures/static-fixture.ts";
import { planBudget, requestsOf } from "./plan-budget.ts";
import { TimeLeft } from "./time-left.ts";

/** What a suite will send, as far as that is known in advance. */
export interface SuitePlan {
  readonly suite: string;
  readonly checks: number;
  readonly instances: number;
  /** Requests of the instances that can run. */
  readonly requests: number;
  /** Longest wait that the specification imposes, seconds. */
  readonly waitS: number;
  /** Instances for which the target file has no fixture. */
  readonly blocked: number;
  /** Instances of declared gaps. */
  readonly skipped: number;
}

export interface Plan {
  readonly suites: readonly SuitePlan[];
  /** Maximum number of requests of all rounds, including the preflight and requests that no check declares. */
  readonly requests: number;
  /** Estimated output tokens of these requests. */
  readonly outputTokens: number;
  /** Estimated input tokens of these requests. */
  readonly inputTokens: number;
  /** Instances that do not fit into the budget. */
  readonly omitted: readonly string[];
  /** Budget, in requests, that fits everything. */
  readonly budgetNeeded: number;
  /** Lines of the target file that would unblock blocked instances, once per state. */
  readonly unblock: readonly (readonly string[])[];
  /** Minimum duration of all rounds, seconds: the longest waits, and the pace below the account's rate. */
  readonly durationS: number;
}

export interface PlanOptions {
  /** Whether a hook or the embedded gateway can create keys that the file does not have. */
  readonly canCreateKeys: boolean;
  /** Number of rounds, each of which sends everything; default 1. */
  readonly rounds?: number;
  readonly run?: RunKind;
}

/**
 * Mean tokens of a conformance request, over all checks against the reference gateway: prompts are short, few replies are long.
 */
const TOKENS_EACH = { input: 100, output: 30 };
/**
 * Requests of the preflight: the model list, its repetitions after an ambient denial, and one per dialect if the list is not
 * usable.
 */
const PREFLIGHT = 5;
/** Maximum number of requests that find a plain model in the list (`ServedModels`). */
const TO_FIND_A_MODEL = 26;
/**
 * Requests that show whether a dialect knows the model of a role: two, plus one for a model that does not exist. Verifying the
 * role takes more.
 */
const PER_ROLE = 2;

/** Plans what a selection sends and how long that takes. Sends and starts nothing. */
export function planOf(instances: readonly Instance[], given: Target, options: PlanOptions): Plan {
  const { canCreateKeys, rounds = 1, run = FULL_RUN } = options;
  const target = withListedModels(given);
  const suites = [...new Set(instances.map(({ check }) => suiteOf(check.id)))];
  const runnable = instances.filter((instance) => stateOf(instance, target, canCreateKeys) === "runs");
  const preflight = preflightOf(given);
  const left = Math.max(0, target.budget.requests - preflight);
  const budget = planBudget(runnable, { target, left, rounds, run });
  const sending = runnable.filter(({ id }) => !budget.omitted.has(id));
  const plans = suites.map((suite): SuitePlan => {
    const own = instances.filter(({ check }) => suiteOf(check.id) === suite);
    const states = own.map((instance) => stateOf(instance, target, canCreateKeys));
    const running = own.filter(({ id }, index) => states[index] === "runs" && !budget.omitted.has(id));
    return {
      suite,
      checks: new Set(own.map(({ check }) => check.id)).size,
      instances: own.length,
      requests: requestsOf(running, target, run),
      waitS: Math.max(0, ...running.map(({ check }) => waitSOf(check, run))),
      blocked: states.filter((state) => state === "blocked").length,
      skipped: states.filter((state) => state === "skipped").length,
    };
  });
  const missing = instances
    .flatMap((instance) => missingOf(instance, target, canCreateKeys))
    .filter(({ skipped }) => skipped === undefined);
  const lines = new Map(missing.map(({ unblock }) => [unblock.join("\n"), unblock]));
  const requests = budget.requests + Math.min(preflight, target.budget.requests);
  return {
    suites: plans,
    requests,
    outputTokens: requests * TOKENS_EACH.output,
    inputTokens: requests * TOKENS_EACH.input,
    omitted: [...budget.omitted.keys()],
    budgetNeeded: budget.needed + preflight,
    unblock: [...lines.values()],
    durationS: Math.ceil(new TimeLeft(sending, target, 0, run).leftS(0)) * rounds,
  };
}

/** Assumes that the gateway lists the models that a run looks for, because a plan cannot know. */
function withListedModels(target: Target): Target {
  const of = (dialect: "chat" | "messages") => ({ unknown: "unknown", plain: "listed", ...target.models[dialect] });
  return { ...target, models: { chat: of("chat"), messages: of("messages") } };
}

/**
 * Maximum number of requests other than those of the checks: the model list, which models each dialect knows and what they do,
 * and each key once.
 */
export function preflightOf({ source, models, dialects, keys, addresses }: Target): number {
  const ids = dialects.flatMap((dialect) => Object.keys(models[dialect]).filter((role) => role !== "plain"));
  const isNamed = dialects.every((dialect) => models[dialect].plain !== undefined);
  const roles = source === "embedded" ? 0 : ids.reduce((sum, id) => sum + PER_ROLE + verificationRequests(id), 0);
  const tried = source === "embedded" ? 0 : Object.keys(keys).length;
  const others = (addresses?.urls.length ?? 1) - 1;
  return PREFLIGHT + others + roles + tried + (isNamed ? 0 : TO_FIND_A_MODEL);
}

/** What an instance lacks and nobody can create. */
function missingOf(instance: Instance, target: Target, canCreateKeys: boolean) {
  return needsOf(instance, target).flatMap((need) => {
    const fixture = staticFixture(need, target, dialectOf(instance, target));
    return fixture.ok || (canCreateKeys && fixture.skipped === undefined && need.startsWith("key.")) ? [] : [fixture];
  });
}

/** States of `skip` that instances need and the target file lacks. */
export interface Gaps {
  /** Lacking in every dialect that needs them. */
  readonly none: readonly State[];
  /** Lacking in one dialect, and named in the other. */
  readonly partly: readonly State[];
}

/** What a target file lacks that its hook cannot create. */
export function gapsOf(instances: readonly Instance[], target: Target): Gaps {
  const canCreateKeys = target.provision !== undefined;
  const needed = instances.flatMap((instance) => {
    const dialect = dialectOf(instance, target);
    return needsOf(instance, target).map((need) => ({ need, ...staticFixture(need, target, dialect) }));
  });
  const lacking = STATES.filter((state) => {
    if (canCreateKeys && state.startsWith("key.")) return false;
    return needed.some((fixture) => fixture.need === state && !fixture.ok && fixture.skipped === undefined);
  });
  const isThere = (state: State) => needed.some(({ need, ok }) => need === state && ok);
  return { none: lacking.filter((state) => !isThere(state)), partly: lacking.filter(isThere) };
}

/** Whether an instance can run with the fixtures of the target file or of a hook. */
export function stateOf(instance: Instance, target: Target, canCreateKeys: boolean): "runs" | "blocked" | "skipped" {
  const missing = missingOf(instance, target, canCreateKeys);
  if (missing.some(({ skipped }) => skipped !== undefined)) return "skipped";
  return missing.length === 0 ? "runs" : "blocked";
}
