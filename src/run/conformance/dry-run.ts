import { figures, terminalTable } from "../../../reports/index.ts";
import type { Plan } from "../../checks/index.ts";
import { EXIT, formatCount, formatNumber } from "../../core/index.ts";
import type { Target } from "../../target/index.ts";
import type { Outcome } from "../control/index.ts";
import { planText } from "../control/index.ts";
import type { RunPlan } from "./plan-run.ts";

/** What a run would send and how long it would take. Sends nothing. */
export function dryRun(target: Target, plan: RunPlan, rounds: number): Outcome {
  const { checks, tiers, sending } = plan;
  const { parts, requests, inputTokens, outputTokens, durationS } = sending;
  const load = parts.filter(({ name }) => name !== "checks");
  const refused = tiers?.refused === undefined ? {} : { refused: tiers.refused };
  return {
    exitCode: EXIT.pass,
    document: { schemaVersion: 1, rounds, ...checks, requests, inputTokens, outputTokens, durationS, load, ...refused },
    text: () => textOf(target, plan, rounds),
  };
}

function textOf(target: Target, { checks, tiers, sending }: RunPlan, rounds: number): string {
  const { refused } = tiers ?? {};
  const loads = sending.parts.filter(({ name }) => name !== "checks");
  const left = checks.omitted.length;
  return [
    suiteTable(checks),
    ...loads.map(
      ({ name, requests, durationS }) =>
        `load ${name}: at most ${formatCount(requests, "request")}${durationS === undefined ? "" : `, about ${formatNumber(durationS)} s`}`,
    ),
    ...(refused === undefined ? [] : [`no load on ${refused.names.join(", ")}: ${refused.why}`]),
    `${target.name} at ${target.baseUrl}: nothing was sent.`,
    ...(left === 0
      ? []
      : [
          `${formatCount(left, "check instance exceeds", "check instances exceed")} the budget of ${formatCount(target.budget.requests, "request")}. Set \`budget.requests: ${checks.budgetNeeded}\` to run all checks.`,
        ]),
    `${planText(target, sending)}${rounds === 1 ? "" : `, in ${rounds} rounds`}`,
    "",
  ].join("\n");
}

function suiteTable({ suites }: Plan): string {
  const columns = ["suite", ...figures("checks", "instances", "requests", "wait", "blocked", "skipped")];
  const rows = suites.map(({ suite, checks, instances, requests, waitS, blocked, skipped }) => {
    return [suite, checks, instances, requests, waitS === 0 ? "" : `${waitS} s`, blocked || "", skipped || ""];
  });
  return terminalTable(columns, rows);
}
