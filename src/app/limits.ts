import { EXIT, UsageError } from "../core/index.ts";
import { analyseLimits, defaultLimitsBudget, type LimitsAnalysis } from "../load/index.ts";
import type { Limits } from "../target/index.ts";
import { accountByName } from "./account-by-name.ts";
import { watchInterruption } from "../cli/interruption.ts";
import { renderLimits } from "./limits-text.ts";
import { assertLoadAllowed } from "./load-plan.ts";
import { fillModels } from "./load-target-models.ts";
import { type SuppliedTarget, supplyTarget } from "./supply-target.ts";

export interface LimitsOptions {
  readonly target?: string | undefined;
  readonly account: string;
  readonly requests?: number | undefined;
  readonly minutes?: number | undefined;
  readonly json: boolean;
  readonly mutation: readonly string[];
  readonly variant: readonly string[];
}

/** Analyses the limits of one account and prints what was found. Ends with 4 when it could not tell the rate or was cut short. */
export async function limits(options: LimitsOptions): Promise<number> {
  await using interruption = watchInterruption();
  await using supplied: SuppliedTarget = await supplyTarget(options, interruption.signal);
  assertLoadAllowed(supplied.target);
  const target = await fillModels(supplied.target);
  const { key, second, limits: hint } = accountByName(target, options.account);
  const budget = budgetOf(options, hint);
  process.stderr.write(
    `gauntlet: limits of ${options.account} at ${target.name}: ${budget.requests} requests and ${budget.minutes} minutes at most; nobody else may use the account meanwhile\n`,
  );
  const analysis = await analyseLimits({
    target,
    key,
    second,
    other: otherThan(key, [target.keys.other, target.keys.valid]),
    hint,
    budget,
    stop: interruption.signal,
    onStep: (what) => process.stderr.write(`gauntlet: ${what}\n`),
  });
  const exitCode = exitOf(analysis);
  if (options.json) {
    const document = { exitCode, target: target.name, account: options.account, declared: hint ?? null, budget };
    process.stdout.write(`${JSON.stringify({ ...document, ...analysis })}\n`);
  } else process.stdout.write(renderLimits(analysis, hint));
  const by = interruption.by();
  return by === undefined ? exitCode : by === "SIGINT" ? EXIT.interrupted : EXIT.terminated;
}

function budgetOf({ requests, minutes }: LimitsOptions, hint: Limits | undefined) {
  const usual = defaultLimitsBudget(hint);
  for (const [name, value] of Object.entries({ "--budget-requests": requests, "--minutes": minutes })) {
    if (value !== undefined && !(value > 0)) throw new UsageError(`${name}: ${value} is not a number above 0.`);
  }
  return { requests: requests ?? usual.requests, minutes: minutes ?? usual.minutes };
}

function otherThan<T>(key: T, candidates: readonly (T | undefined)[]): T | undefined {
  return candidates.find((candidate) => candidate !== undefined && candidate !== key);
}

function exitOf({ rate, cut }: LimitsAnalysis): number {
  return cut !== null || rate.perMinute.answer === null ? EXIT.inconclusive : EXIT.pass;
}
