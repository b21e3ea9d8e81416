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
import { startedLoads } from "./started-loads.ts";
import { throughputOf } from "./throughput.ts";

const MAX_LENGTH = 300;

/**
 * What a load showed, in a sentence, if the run passed: otherwise its reasons are next to the verdict, with what is probably wrong
 * in the target file if nothing was admitted.
 */
export function resultOfLoad({ verdict, checks: all }: RunRecord, run: LoadRun): string | undefined {
  if (verdict.result !== "pass") return wrongSetup(run);
  const checks = checksOfRun(all, run);
  const sum = (name: "denied" | "failed" | "invalid") => run.phases.reduce((total, phase) => total + phase[name], 0);
  const passed = run.phases.filter((phase) => statusOfPhase(checks, run, phase) === "pass").length;
  const [first] = run.phases;
  const { admittedPerS = 0, steady } = first === undefined ? {} : throughputOf(first);
  const result = describeLoadResult({
    ...{ name: run.name, phases: run.phases.length, passed, admittedPerS, isSteady: steady !== undefined },
    ...{ denied: sum("denied"), failed: sum("failed"), invalid: sum("invalid") },
    thresholds: checksOfThresholds(checks, run).filter(({ status }) => status === "pass").length,
    limits: limitsOf(run, checks),
    waits: run.retryAfter ?? undefined,
  });
  return oneLine(result, MAX_LENGTH);
}

/** Probable causes of a load that is denied throughout, by denial reason. Wrong keys are not listed: they end the load with an error. */
const WRONG_SETUP: ReadonlyMap<string, string> = new Map([
  ["model_not_found", "the model in the target file or the workload is probably wrong"],
  ["not_found", "the path in baseUrl is probably wrong"],
]);

function wrongSetup({ phases }: LoadRun): string | undefined {
  const [reason, ...others] = new Set(phases.flatMap(({ denials }) => denials.map((denial) => denial.reason)));
  const meaning = reason === undefined ? undefined : WRONG_SETUP.get(reason);
  if (meaning === undefined || others.length > 0 || phases.some(({ sent, denied }) => denied < sent)) return undefined;
  return `every request was denied with ${reason}: ${meaning}; run \`gauntlet doctor\` to check`;
}

const MAX_RESULTS = 3;

/** The results of the first loads of a run. */
export function loadResults(record: RunRecord): string[] {
  return startedLoads(record)
    .slice(0, MAX_RESULTS)
    .flatMap((run) => resultOfLoad(record, run) ?? []);
}

/** The limits of a tier whose overload was measured. */
function limitsOf({ limits }: LoadRun, checks: readonly CheckResult[]): LoadResultFacts["limits"] {
  const measured = checks.flatMap(({ findings }) => findings).find(({ name }) => name === "rate.measured");
  return limits === null || measured === undefined ? undefined : { ...limits, inAMinute: describeFacts(measured) };
}
