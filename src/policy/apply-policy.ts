import {
  type CheckResult,
  checksOfRun,
  countMet,
  type Gate,
  type GateLevel,
  type PolicySection,
  type RunRecord,
} from "../record/index.ts";
import { type BaselineFile, baselineFigure, machineOf } from "./baseline.ts";
import { figureOf, isMet, provenAt } from "./figure.ts";
import { isPerformance } from "./metrics.ts";
import { gatesOf, type PolicyFile, type PolicyGate } from "./policy-file.ts";
import { parseThreshold } from "./threshold.ts";

/** A parsed policy with the files that it refers to. */
export interface Policy {
  readonly source: string;
  readonly sha256: string;
  readonly file: PolicyFile;
  readonly baseline: { readonly source: string; readonly file: BaselineFile | undefined } | undefined;
  /** Ids of the check instances that cover each requirement. */
  readonly coverage: ReadonlyMap<string, readonly string[]>;
}

/** Applies a policy to a run. Pure: the same record and files give the same gates. */
export function applyPolicy(record: RunRecord, policy: Policy): PolicySection {
  const { file } = policy;
  const thresholds = gatesOf(file).map((gate) => thresholdGate(record, gate, policy));
  const required = file.require;
  const gates: Gate[] = [
    ...(required?.suites ?? []).map((suite) => suiteGate(record, suite, required?.level ?? "error")),
    ...(required?.requirements ?? []).map((requirement) =>
      requirementGate(record, requirement, {
        level: required?.level ?? "error",
        covering: policy.coverage.get(requirement) ?? [],
      }),
    ),
    ...file.load.map((name) => loadGate(record, name)),
    ...(record.checks.some(({ layer }) => layer === "compat") ? [compatGate(record, file.compat)] : []),
    ...thresholds,
  ];
  return {
    source: policy.source,
    sha256: policy.sha256,
    confirmed: false,
    baseline: policy.baseline === undefined ? null : baselineState(record, policy.baseline),
    gates,
  };
}

/** Names of the load runs that failed performance gates refer to; measuring them once more may change the outcome. */
export function toConfirm(record: RunRecord, policy: Policy, section: PolicySection): string[] {
  const failed = new Set(
    section.gates
      .filter(({ kind, outcome, level }) => kind === "threshold" && outcome === "fail" && level === "error")
      .map(({ gate }) => gate),
  );
  const names = gatesOf(policy.file)
    .filter(({ threshold }) => failed.has(threshold.text) && isPerformance(threshold.metric))
    .flatMap(({ threshold }) => {
      const tier = threshold.labels["tier"];
      return tier === undefined ? (record.load?.runs ?? []).map(({ name }) => name) : [tier];
    });
  return [...new Set(names)];
}

/**
 * Combines the first and second measurement. A gate fails only if it failed twice; one that could not be decided the second
 * time does not pass.
 */
export function confirmed(first: PolicySection, second: PolicySection): PolicySection {
  const again = new Map(second.gates.map((gate) => [gate.gate, gate]));
  return {
    ...first,
    confirmed: true,
    gates: first.gates.map((gate) => {
      const later = again.get(gate.gate);
      // The second measurement only sent load, so it says nothing about checks.
      if (!isPerformanceGate(gate) || gate.outcome !== "fail" || later === undefined) return gate;
      return {
        ...later,
        message: `${later.message}; at first ${figure(gate.observed)}`,
        first: { outcome: gate.outcome, observed: gate.observed },
      };
    }),
  };
}

function isPerformanceGate({ kind, gate }: Gate): boolean {
  const read = kind === "threshold" ? parseThreshold(gate) : "";
  return typeof read !== "string" && isPerformance(read.metric);
}

const NOTHING = { observed: null, bound: null, samples: null, labels: {} } as const;

function thresholdGate(record: RunRecord, { threshold, level, why }: PolicyGate, { baseline }: Policy): Gate {
  const frame = { ...NOTHING, gate: threshold.text, kind: "threshold" as const, level };
  if (level === "off") return { ...frame, outcome: "off", message: "switched off" };
  const seen = figureOf(record, threshold);
  if (!("value" in seen)) return { ...frame, outcome: "inconclusive", message: seen.why, samples: seen.samples };
  const common = { ...frame, observed: seen.value, samples: seen.samples, labels: { ...seen.labels } };
  let bound: number;
  if (threshold.bound.kind === "number") bound = threshold.bound.value;
  else {
    const accepted = baselineFigure(baseline?.file, record, threshold);
    if (!("value" in accepted)) return { ...common, outcome: "inconclusive", message: accepted.message };
    bound = accepted.value * threshold.bound.factor + threshold.bound.offset;
  }
  const { operator } = threshold;
  const met = isMet(seen, operator, bound);
  if (met === undefined) {
    const ends = [seen.low ?? seen.value, seen.high ?? seen.value];
    const message = `${figure(seen.value)} (interval: ${ends.map(figure).join(" to ")}), bound ${operator} ${figure(bound)}; more samples would narrow the interval`;
    return { ...common, bound, outcome: "inconclusive", message };
  }
  const reason = met || why === undefined ? "" : ` (${why})`;
  return {
    ...common,
    bound,
    outcome: met ? "pass" : "fail",
    message: `${figure(seen.value)}${provenAt(seen.provenBy)}, bound ${operator} ${figure(bound)}${reason}`,
  };
}

function suiteGate(record: RunRecord, suite: string, level: GateLevel): Gate {
  const checks = record.checks.filter((check) => check.suite === suite);
  const frame = { ...NOTHING, gate: `suite ${suite} judged`, kind: "suite" as const, level, samples: checks.length };
  if (level === "off") return { ...frame, outcome: "off", message: "switched off" };
  if (checks.length === 0) return { ...frame, outcome: "inconclusive", message: "it was not run" };
  const notSelected = (record.notSelected ?? []).filter((id) => id.startsWith(`${suite}.`)).length;
  if (notSelected > 0) return { ...frame, outcome: "inconclusive", message: partlyRun(checks.length, notSelected) };
  const open = checks.filter(({ status }) => status === "blocked" || status === "inconclusive");
  if (open.length > 0) {
    return {
      ...frame,
      outcome: "inconclusive",
      message: `${open.length} of ${checks.length} check instances could not be decided`,
    };
  }
  const failed = checks.filter(hasFailed);
  if (failed.length > 0)
    return { ...frame, outcome: "fail", message: `${failed.length} of ${checks.length} check instances failed` };
  const judged = checks.filter(({ status }) => status !== "not-applicable");
  if (judged.length === 0)
    return { ...frame, outcome: "inconclusive", message: "none of its checks applies to this target" };
  return { ...frame, outcome: "pass", message: `${judged.length} check instances judged` };
}

/** Says how many checks of a required suite or requirement were selected. */
function partlyRun(ran: number, notSelected: number): string {
  return `only ${ran} of its ${ran + notSelected} check instances were selected; run all of them (without --only and --quick)`;
}

interface Required {
  readonly level: GateLevel;
  /** Ids of the check instances that cover it. */
  readonly covering: readonly string[];
}

function requirementGate(record: RunRecord, requirement: string, { level, covering }: Required): Gate {
  const frame = { ...NOTHING, gate: `requirement ${requirement} met`, kind: "requirement" as const, level };
  if (level === "off") return { ...frame, outcome: "off", message: "switched off" };
  const findings = record.checks.flatMap((check) =>
    check.findings.filter(({ requirements }) => requirements.includes(requirement)),
  );
  const broken = findings.filter(({ outcome }) => outcome === "broken").length;
  const met = countMet(findings);
  const samples = broken + met;
  if (broken > 0) return { ...frame, samples, outcome: "fail", message: `broken ${broken} times` };
  if (met === 0) return { ...frame, samples, outcome: "inconclusive", message: "nothing judged it" };
  const notSelected = covering.filter((id) => record.notSelected?.includes(id)).length;
  if (notSelected > 0)
    return {
      ...frame,
      samples,
      outcome: "inconclusive",
      message: partlyRun(covering.length - notSelected, notSelected),
    };
  return { ...frame, samples, outcome: "pass", message: `met ${met} times` };
}

function loadGate(record: RunRecord, named: string): Gate {
  // A workload file is named by its path, its run by its name.
  const name = named.replace(/^.*[\\/]/, "").replace(/\.ya?ml$/, "");
  const frame = { ...NOTHING, gate: `load ${name} driven`, kind: "load" as const, level: "error" as const };
  const run = (record.load?.runs ?? []).find((entry) => entry.name === name);
  if (run === undefined) return { ...frame, outcome: "inconclusive", message: "it was not run" };
  const samples = run.phases.reduce((sum, { sent }) => sum + sent, 0);
  const checks = checksOfRun(record.checks, run);
  const messages = (some: readonly CheckResult[]) => some.map(({ message }) => message).join("; ");
  const failed = checks.filter(hasFailed);
  if (failed.length > 0) return { ...frame, samples, outcome: "fail", message: messages(failed) };
  const open = checks.filter(({ status }) => status === "inconclusive");
  if (open.length > 0 || samples === 0)
    return { ...frame, samples, outcome: "inconclusive", message: messages(open) || "nothing was sent" };
  return { ...frame, samples, outcome: "pass", message: `${samples} requests` };
}

function compatGate(record: RunRecord, level: GateLevel): Gate {
  const checks = record.checks.filter(({ layer }) => layer === "compat");
  const frame = { ...NOTHING, gate: "compat expectations met", kind: "compat" as const, level, samples: checks.length };
  if (level === "off") return { ...frame, outcome: "off", message: "switched off" };
  const missed = checks.filter(({ findings }) => findings.some(({ outcome }) => outcome === "broken"));
  if (missed.length > 0) {
    return {
      ...frame,
      outcome: "fail",
      message: `${missed.length} of ${checks.length} compat check instances found a miss`,
    };
  }
  const judged = checks.filter(({ status }) => status === "pass" || status === "warn");
  if (judged.length === 0) return { ...frame, outcome: "inconclusive", message: "no compat check was judged" };
  return { ...frame, outcome: "pass", message: `${judged.length} compat check instances judged` };
}

function hasFailed({ status }: CheckResult): boolean {
  return status === "fail" || status === "flaky" || status === "harness-error";
}

function baselineState(
  record: RunRecord,
  { source, file }: NonNullable<Policy["baseline"]>,
): PolicySection["baseline"] {
  if (file === undefined) return { source, state: "missing" };
  const machine = JSON.stringify(machineOf(record));
  const here = file.performance.filter((entry) => JSON.stringify(entry.machine) === machine);
  const from = here[0]?.from ?? file.performance[0]?.from ?? file.conformance?.from;
  const ofOtherMachine = (record.load?.runs ?? []).length > 0 && file.performance.length > 0 && here.length === 0;
  return {
    source,
    state: ofOtherMachine ? "other-machine" : "same",
    ...(from === undefined ? {} : { runId: from.runId, acceptedAt: from.startedAt }),
  };
}

function figure(value: number | null): string {
  return value === null ? "no figure" : String(Number(value.toPrecision(5)));
}
