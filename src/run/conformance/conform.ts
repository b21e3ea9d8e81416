import { setFlagsFromString } from "node:v8";
import { jsonDocument, renderRun } from "../../../reports/index.ts";
import {
  type Check,
  coverageOf,
  customRequirementsOf,
  freeze,
  type Instance,
  instancesOf,
  leftoversOf,
  loadWaivers,
  mergeRuns,
  notRun,
  resultOf,
  select,
  Traffic,
} from "../../checks/index.ts";
import { formatNumber, onAbort, UsageError } from "../../core/index.ts";
import type { Policy } from "../../policy/index.ts";
import {
  type CheckResult,
  checksOfLoad,
  checksOfUnsent,
  figuresOfLoad,
  type RunFolder,
  type RunRecord,
  type Waiver,
} from "../../record/index.ts";
import { type Interruption, type Outcome, permitFor, permitLine, type RunControl, sumOf } from "../control/index.ts";
import { journalFailure, journalStart, optionWords, type RunStart } from "../journal/index.ts";
import { judgeByPolicy, type PolicyStep, readPolicy } from "../judge/index.ts";
import { lastFailed, type OpenTarget, openFolder, openTarget, type TargetOptions } from "../open/index.ts";
import { type Advice, adviceLine, dialectAdvice, prepare } from "../preflight/index.ts";
import { composeRecord, evidenceOf, keepRecord, settle, unscoredRequirements } from "../record/index.ts";
import { checksWith, dropUndeclaredSuites, isQuick } from "../suites/index.ts";
import { CheckProgress } from "./check-progress.ts";
import { claimedBy, profilesNamed } from "./claimed-profiles.ts";
import { dryRun } from "./dry-run.ts";
import { canRunConcurrently, sentBy, TierRuns } from "./loads/concurrent-tiers.ts";
import { driveLoads, named, policyParts, runRemainingLoads } from "./loads/policy-load.ts";
import { planRun, type RunPlan } from "./plan-run.ts";
import { runRounds } from "./run-rounds.ts";
import { limitAdvice, slowNote } from "./slow-run.ts";

export interface ConformOptions extends Omit<TargetOptions, "policy"> {
  readonly command: string;
  readonly suites: readonly string[];
  readonly only: readonly string[];
  readonly out?: string | undefined;
  readonly seed?: number | undefined;
  /** Modules with custom suites. */
  readonly suite?: readonly string[] | undefined;
  /** Path of a waiver file. */
  readonly waivers?: string | undefined;
  /** Path of a policy file, and of a baseline that replaces the one it names. */
  readonly policy?: string | undefined;
  readonly baseline?: string | undefined;
  /** Measure failed performance gates once more. */
  readonly confirm?: boolean | undefined;
  /** Only the check instances that failed in the latest run of this target. */
  readonly lastFailed?: boolean | undefined;
  /** How often every check runs; default 1. */
  readonly repeat?: number | undefined;
  /** Say what would be sent, and send nothing. */
  readonly dryRun?: boolean | undefined;
  /** Generate load on the tiers of the target afterwards. */
  readonly tiers?: boolean | undefined;
  /** Only the smallest set of checks that finds most defects. */
  readonly quick?: boolean | undefined;
  /** Profiles that the run must meet, instead of those of the target file. */
  readonly profile?: readonly string[] | undefined;
}

/** More rounds say nothing more about flaky checks and only load the gateway. */
const MAX_ROUNDS = 100;

/** Runs conformance checks, and load if the run includes it; writes the run folder. */
export async function conform(options: ConformOptions, control: RunControl): Promise<Outcome> {
  const { interruption, onProgress } = control;
  const checks = await checksWith(options.suite ?? []);
  if (options.lastFailed === true && options.only.length + options.suites.length > 0)
    throw new UsageError("--last-failed selects the checks: do not name others as well");
  const chosen = profilesNamed(options.profile ?? []);
  const named = select(checks, options);
  const rounds = roundsOf(options);
  const waivers = options.waivers === undefined ? [] : loadWaivers(options.waivers);
  const policy = policyOf(options, checks);
  const startedAt = new Date();
  const seed = options.seed ?? startedAt.getTime() % 0x7fffffff;
  await using opened = await openTarget(options, { signal: interruption.signal, onProgress });
  const { target } = opened;
  const only = options.lastFailed === true ? lastFailed(target.name) : options.only;
  const selected = options.lastFailed === true ? select(checks, { only }) : named;
  const requested = dropUndeclaredSuites(selected, { ...options, only }, target);
  const instances = options.quick === true ? quickOf(requested) : requested;
  const notSelected = notSelectedOf(instances, checks);
  const qualifiers =
    options.quick === true
      ? [`quick: ${formatNumber(instances.length)} of ${formatNumber(requested.length)} check instances`]
      : [];
  const unscored = unscoredRequirements(target);
  const canCreateKeys = opened.provisioner !== undefined;
  const load = options.command === "run" ? (policy?.file.load ?? []) : [];
  const isQuick = options.quick === true;
  const isConcurrent = canRunConcurrently(opened.provisioner, isQuick);
  const plan = planRun(target, { instances, rounds, canCreateKeys, isQuick, isConcurrent, ...options, load });
  if (options.dryRun === true) return dryRun(target, plan, rounds);
  const head = {
    command: options.command,
    arguments: argumentsOf({ ...options, only }),
    target,
    seed,
    startedAt,
    claimed: claimedBy(target, chosen),
  };
  // Awaited here: the target is closed when this function returns.
  return await runPlanned(
    { options, checks, instances, notSelected, qualifiers, rounds, waivers, unscored, policy, head, plan },
    opened,
    control,
  );
}

interface Planned {
  readonly options: ConformOptions;
  /** All existing checks. */
  readonly checks: readonly Check[];
  /** The selected instances. */
  readonly instances: readonly Instance[];
  /** Ids of the instances that were not selected. */
  readonly notSelected: readonly string[];
  readonly qualifiers: readonly string[];
  readonly rounds: number;
  readonly waivers: readonly Waiver[];
  readonly unscored: readonly string[];
  readonly policy: Policy | undefined;
  readonly head: RunStart;
  readonly plan: RunPlan;
}

/** The words of the command line that select what is run and how it is judged. */
function argumentsOf(options: ConformOptions): string[] {
  return [
    ...options.suites,
    ...optionWords("only", ...options.only),
    ...optionWords("suite", ...(options.suite ?? [])),
    ...(options.quick === true ? ["--quick"] : []),
    ...(options.command === "run" && options.tiers === false && options.only.length === 0 ? ["--no-load"] : []),
    ...(options.confirm === true ? ["--confirm"] : []),
    ...optionWords("repeat", options.repeat === 1 ? undefined : options.repeat),
    ...optionWords("profile", ...(options.profile ?? [])),
    ...optionWords("waivers", options.waivers),
    ...optionWords("policy", options.policy),
    ...optionWords("baseline", options.baseline),
  ];
}

/** Runs the plan and writes the run folder. */
async function runPlanned(planned: Planned, opened: OpenTarget, control: RunControl): Promise<Outcome> {
  const { options, checks, instances, notSelected, rounds, waivers, unscored, head } = planned;
  const { target, seed, startedAt } = head;
  const { interruption, onProgress } = control;
  const isQuickRun = options.quick === true;
  const { tiers: plan, workloads, run } = planned.plan;
  const permit = permitFor(target, planned.plan.sending, workloads.length > 0 ? "load" : "checks");
  using _heap = plan === undefined && workloads.length === 0 ? keepHeapSmall(interruption.signal) : undefined;
  using folder = openFolder(options.out, startedAt, target, interruption);
  let progress: CheckProgress | undefined;
  let tiers: TierRuns | undefined;
  await using traffic = new Traffic({
    target,
    budget: permit.budget,
    seed,
    signal: interruption.signal,
    provisioner: opened.provisioner,
    ...run,
    onResponse: ({ exchange, requested }) => folder.exchange({ requested, exchange }),
    onWait: (wait) => progress?.waiting(wait),
    inFlightOfLoad: () => tiers?.inFlight ?? 0,
    onStopped: () => interruption.stop(),
  });
  const { redactor } = traffic.recorder;
  const covering = coverageOf(checks);
  const customRequirements = customRequirementsOf(checks);
  journalStart(folder, head, redactor, {
    checks: instances.map(notRun),
    notSelected,
    rounds,
    waivers,
    unscored,
    ...(head.claimed && { covering }),
    ...(customRequirements.length > 0 && { customRequirements }),
  });
  const advise = ({ cause, next }: Advice) => {
    folder.journal(redactor.redactValue({ event: "advice", cause, next }));
    onProgress({ kind: "note", text: adviceLine({ cause, next }) });
  };
  onProgress({ kind: "note", text: permitLine(permit) });
  onProgress({ kind: "step", text: `connecting to ${target.baseUrl}` });
  const prepared = await journalFailure(folder, redactor, () => prepare(traffic, advise));
  const slow = slowNote(traffic.replyTimes, planned.plan.checks);
  if (slow !== undefined) onProgress({ kind: "note", text: slow });
  progress = new CheckProgress({ instances, rounds, run, target: prepared.target, redactor, onProgress });
  const step = { target, permit, seed, redactor, folder, control };
  tiers = plan && new TierRuns({ ...step, plan, quick: isQuickRun }, opened.provisioner);
  const running = { instances, rounds, traffic: prepared, folder, control, progress };
  const { runs, probed } = await runRounds({ ...running, startLoad: () => tiers?.startConcurrently(prepared.target) });
  const undeclared = dialectAdvice(target, traffic.responses);
  if (undeclared !== undefined) advise(undeclared);
  const undeclaredLimit = limitAdvice(target, traffic.responses);
  if (undeclaredLimit !== undefined) advise(undeclaredLimit);
  const ofTiers = await tiers?.result(prepared);
  const load = traffic.watch.stop === undefined ? await runRemainingLoads(ofTiers, workloads, step) : ofTiers;
  const refused = plan?.refused;
  const ofLoad = [...checksOfLoad(load), ...(refused === undefined ? [] : checksOfUnsent(refused.names, refused.why))];
  const ofStop = judgeStop(planned, traffic, folder);
  const profiles = head.claimed && { ...head.claimed, instances: covering };
  const found = composeRecord({
    ...head,
    ...settle([...mergeRuns(runs), ...ofLoad, ...ofStop], { unscored, waivers, checks, profiles, today: startedAt }),
    instances: covering,
    customRequirements,
    waivers,
    unscored,
    rounds,
    notSelected: notSelected.filter((id) => ofStop.every((result) => result.id !== id)),
    leftovers: await leftoversOf(prepared, [...probed]),
    load,
    requests: traffic.sent.requests + sentBy(load) + (tiers?.sentBefore ?? 0),
    outputTokens: traffic.sent.outputTokens,
    qualifiers: planned.qualifiers,
    build: traffic.responses.map((response) => response.header("server")).find((server) => server !== undefined),
    interruptedBy: interruption.by(),
    cutOff: folder.ioError?.message ?? traffic.watch.circuitOpen,
    redactor,
  });
  const again = async (names: readonly string[]) => {
    const second = names.map(named(workloads, target));
    if (!permit.more(sumOf(policyParts(target, second), false))) return found;
    const measured = await driveLoads(second, { ...step, second: true });
    return { ...found, load: figuresOfLoad(measured) };
  };
  return await outcomeOf(await judged(found, planned, again), folder, interruption);
}

/** A gateway that stops responding, or serving, is judged whatever was selected. */
function judgeStop({ checks, notSelected }: Planned, { watch, responses }: Traffic, folder: RunFolder): CheckResult[] {
  if (watch.stop === undefined && watch.recovery.outages.length === 0) return [];
  const instances = checks.filter((check) => check.kind === "invariant" && check.judgesStop).flatMap(instancesOf);
  return instances
    .filter(({ id }) => notSelected.includes(id))
    .map((instance) => {
      folder.recording(instance.id, freeze(responses), 0);
      return resultOf(instance, responses, { attestations: [], durationMs: 0 });
    });
}

/** The record with the policy applied, if there is one. */
async function judged(found: RunRecord, { options, policy }: Planned, again: PolicyStep["again"]): Promise<RunRecord> {
  if (policy === undefined) return found;
  return judgeByPolicy(found, { policy, again: options.confirm === true ? again : undefined });
}

/** Writes the record with its reports into the folder. */
async function outcomeOf(found: RunRecord, folder: RunFolder, interruption: Interruption): Promise<Outcome> {
  const { record, isKept, ioError } = await keepRecord(folder, found, { interruption });
  const evidence = evidenceOf(folder.path, record);
  return {
    exitCode: record.verdict.exitCode,
    document: jsonDocument(record, folder.path),
    text: (colors) => renderRun(record, { colors, evidence, folder: folder.path, isKept }),
    ioError,
  };
}

/** @throws UsageError for `confirm` without gates. */
function policyOf({ policy, baseline, confirm }: ConformOptions, checks: readonly Check[]): Policy | undefined {
  if (policy !== undefined) return readPolicy(policy, { baseline, checks });
  if (confirm !== true) return undefined;
  throw new UsageError("--confirm measures failed gates once more and needs a policy", {
    hint: "Name one with --policy.",
  });
}

/** Ids of all instances that were not selected. */
function notSelectedOf(instances: readonly Instance[], checks: readonly Check[]): string[] {
  const selected = new Set(instances.map(({ id }) => id));
  return checks.flatMap(instancesOf).flatMap(({ id }) => (selected.has(id) ? [] : [id]));
}

/** @throws UsageError when none of the selected checks is in the quick set. */
function quickOf(selected: readonly Instance[]): Instance[] {
  const instances = selected.filter(isQuick);
  if (instances.length > 0) return instances;
  throw new UsageError("a quick run has none of the selected checks", { hint: "Omit --quick." });
}

function roundsOf({ repeat = 1 }: ConformOptions): number {
  if (Number.isInteger(repeat) && repeat >= 1 && repeat <= MAX_ROUNDS) return repeat;
  throw new UsageError(`--repeat takes a whole number from 1 to ${MAX_ROUNDS}`);
}

/**
 * Makes V8 keep less memory, in addition to the flag in `main.ts`: a full conformance run on the embedded gateway then needs
 * 341 MiB instead of 361, and no more CPU time. Not for load, where compiled code has to be fast; nor for the end of an interrupted run,
 * half of which would be spent in collections.
 *
 * @returns a disposable that ends it.
 */
function keepHeapSmall(interrupted: AbortSignal): Disposable {
  setFlagsFromString("--optimize-for-size");
  return onAbort(interrupted, () => setFlagsFromString("--no-optimize-for-size"));
}
