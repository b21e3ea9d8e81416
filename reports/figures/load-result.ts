import {
  type CheckResult,
  checksOfRun,
  checksOfThresholds,
  type LoadRun,
  type RunRecord,
  statusOfPhase,
} from "../../src/record/index.ts";
import { oneLine } from "../clean-text.ts";
import { describeFacts, describeLoadResult, type LoadResultFacts } from "../text/index.ts";

const MAX_LENGTH = 300;

/** What a load showed, in a sentence, if the run passed: otherwise its reasons are next to the verdict. */
export function resultOfLoad({ verdict, checks: all }: RunRecord, run: LoadRun): string | undefined {
  if (verdict.result !== "pass") return undefined;
  const checks = checksOfRun(all, run);
  const sum = (name: "denied" | "failed" | "invalid") => run.phases.reduce((total, phase) => total + phase[name], 0);
  const passed = run.phases.filter((phase) => statusOfPhase(checks, run, phase) === "pass").length;
  const result = describeLoadResult({
    ...{ name: run.name, phases: run.phases.length, passed, admittedPerS: run.phases[0]?.rates.admitted ?? 0 },
    ...{ denied: sum("denied"), failed: sum("failed"), invalid: sum("invalid") },
    thresholds: checksOfThresholds(checks, run).filter(({ status }) => status === "pass").length,
    limits: limitsOf(run, checks),
    waits: run.retryAfter ?? undefined,
  });
  return oneLine(result, MAX_LENGTH);
}

/** The limits of a tier whose overload was measured. */
function limitsOf({ limits }: LoadRun, checks: readonly CheckResult[]): LoadResultFacts["limits"] {
  const measured = checks.flatMap(({ findings }) => findings).find(({ name }) => name === "rate.measured");
  return limits === null || measured === undefined ? undefined : { ...limits, inAMinute: describeFacts(measured) };
}
