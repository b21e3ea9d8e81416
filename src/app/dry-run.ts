import { figures, terminalTable } from "../../reports/index.ts";
import { type Instance, type Plan, planOf } from "../checks/index.ts";
import { EXIT } from "../core/index.ts";
import type { Target } from "../target/index.ts";
import type { Outcome } from "./outcome.ts";

export interface DryRun {
  readonly instances: readonly Instance[];
  readonly target: Target;
  readonly rounds: number;
}

/** What a run would send and how long it would take. Sends nothing. */
export function dryRun({ instances, target, rounds }: DryRun): Outcome {
  const plan = planOf(instances, target, { hooked: target.provision !== undefined, rounds });
  return {
    exitCode: EXIT.pass,
    document: { schemaVersion: 1, rounds, ...plan },
    text: () => planText(plan, target, rounds),
  };
}

function planText(plan: Plan, target: Target, rounds: number): string {
  const columns = ["suite", ...figures("checks", "instances", "requests", "wait", "blocked", "skipped")];
  const rows = plan.suites.map(({ suite, checks, instances, requests, waitS, blocked, skipped }) => {
    return [suite, checks, instances, requests, waitS === 0 ? "" : `${waitS} s`, blocked || "", skipped || ""];
  });
  const times = rounds === 1 ? "" : ` in ${rounds} rounds`;
  const budget = target.budget.requests;
  const lacks = plan.leftOut.length;
  const over =
    lacks === 0
      ? ""
      : `; the budget of ${budget} has no room for ${lacks} checks, budget.requests: ${plan.budgetNeeded} has`;
  return [
    terminalTable(columns, rows),
    `${target.name} at ${target.baseUrl}: nothing was sent.`,
    `A run would send about ${plan.requests * rounds} requests${times}${over}, and take at least ${plan.durationS * rounds} s.`,
  ]
    .join("\n")
    .concat("\n");
}
