import { UsageError } from "../../core/index.ts";
import { Redactor } from "../../http/recorder/index.ts";
import {
  assertDecidableByTotals,
  assertMeasurable,
  assertNoEvents,
  assertReachable,
  beyondLimit,
  boundedBy,
  eventSecrets,
  parseUntil,
  type Sample,
  servedWorkload,
  thresholdNeeds,
  type Until,
  type Workload,
} from "../../load/index.ts";
import type { Policy } from "../../policy/index.ts";
import {
  type OnProgress,
  type Outcome,
  permitFor,
  permitLine,
  planOfLoads,
  type RunControl,
} from "../../run/control/index.ts";
import { journalFailure, journalStart, optionWords } from "../../run/journal/index.ts";
import {
  keepEvidence,
  openShard,
  runLoads,
  type ShardOptions,
  shardRequest,
  sharedSeed,
  waitForStart,
} from "../../run/loads/index.ts";
import { findWorkload, openFolder, openTarget, type TargetOptions } from "../../run/open/index.ts";
import { assertLoadConfiguration, loadTargetOf } from "../../run/preflight/index.ts";
import { allKeys } from "../../target/index.ts";
import { checkWatched, type Watch, type Watched, type WatchOptions, watchedBy } from "../../telemetry/live/index.ts";
import { openTargetWatch, type TargetWatchOptions } from "../../telemetry/watch/index.ts";
import { dryRun } from "./dry-run.ts";
import { HandedOver } from "./handed-over.ts";

export interface LoadOptions extends TargetOptions, ShardOptions, WatchOptions, TargetWatchOptions {
  /** Tiers, shipped workloads, or workload files; several run concurrently. */
  readonly what: readonly string[];
  /** Prints the plan and sends nothing. */
  readonly dryRun: boolean;
  readonly out?: string | undefined;
  readonly seed?: number | undefined;
  readonly engine?: string | undefined;
  /** k6 instances, each with its share of the schedule. */
  readonly instances: number;
  /** Path of k6. */
  readonly k6?: string | undefined;
  /** Skips the phases of tier runs that need longer overload. */
  readonly brief: boolean;
  /** `ttft_ms p99 within 5%`: ends the load as soon as the figure is this precise. */
  readonly until?: string | undefined;
  /** Baseline file that replaces the one that the policy names. */
  readonly baseline?: string | undefined;
  /** Time limit in seconds for `until`; default: the duration of the workload. */
  readonly atMost?: number | undefined;
}

/** Generates load and writes the run folder. */
export async function load(options: LoadOptions, control: RunControl): Promise<Outcome> {
  const { interruption, onProgress } = control;
  const startedAt = new Date();
  const { until, named, k6, requested, policy } = await readOptions(options, onProgress);
  await using opened = await openTarget(options, { signal: interruption.signal, onProgress });
  const { processes, source } = opened.target;
  await using targetWatch = await openTargetWatch(
    options,
    (text) => onProgress({ kind: "notice", text }),
    processes && { ...processes, source },
  );
  const workloads = named.map((workload) => servedWorkload(workload, opened.target));
  for (const { mix } of workloads) if (until !== undefined) assertMeasurable([until], mix);
  const length = options.brief ? "brief" : "thorough";
  const needs = workloads.flatMap((workload) => [...thresholdNeeds(workload), ...beyondLimit(workload, opened.target)]);
  const permit = permitFor(opened.target, planOfLoads(opened.target, workloads, length), "load");
  if (options.dryRun) return dryRun(permit, { workloads, length, needs });
  for (const text of needs) onProgress({ kind: "notice", text });
  onProgress({ kind: "notice", text: permitLine(permit) });
  onProgress({ kind: "step", text: `connecting to ${opened.target.baseUrl}` });
  await assertReachable(opened.target);
  // The first request: nothing is sent before the plan is shown.
  const target = await loadTargetOf(permit, workloads);
  const [only] = workloads;
  const shard = requested && only && (await openShard(requested, { workload: only, target, control }));
  const seed = options.seed ?? (shard && only ? sharedSeed(only) : startedAt.getTime() % 0x7fffffff);
  using folder = openFolder(options.out, startedAt, target, interruption);
  const redactor = new Redactor([
    ...allKeys(target).map((key) => key.secret()),
    ...(targetWatch?.secrets ?? []),
    ...eventSecrets(workloads),
  ]);
  const given = argumentsOf(options);
  journalStart(
    folder,
    { command: "load", arguments: given, target, seed, startedAt },
    redactor,
    shard && { shard: shard.head },
  );
  const samples: Sample[] = [];
  const handedOver = shard && new HandedOver(shard);
  const evidence = keepEvidence({ folder, redactor, workloads, samples, onProgress });
  await using watch = await watched(options, { target, redactor, onNotice: evidence.onNotice });
  if (shard !== undefined) await waitForStart(shard, control);
  const ran = await runLoads(workloads, {
    target,
    budget: permit.budget,
    seed,
    redactor,
    workers: options.workers,
    until,
    k6: k6 && { ...k6, folder: folder.path },
    length,
    shard: handedOver?.part,
    stop: interruption.signal,
    abort: interruption.now,
    extendEnd: interruption.extendEnd,
    ...evidence,
    ...watch?.listeners(evidence),
  });
  const sent = workloads.map((workload, index) => ({ workload, source: options.what[index] ?? workload.name }));
  if (!interruption.signal.aborted)
    await journalFailure(folder, redactor, () =>
      assertLoadConfiguration(ran.section.runs, sent, { ...permit, target }, evidence.onNotice),
    );
  const section = (await targetWatch?.finish(ran.section, interruption.signal)) ?? ran.section;
  // The code that judges and renders is loaded after the load, so that the first request does not wait for it.
  const { finishLoad } = await import("../../run/judge/index.ts");
  const cutOff = folder.ioError?.message;
  const closed = only && handedOver?.close(only, { target, redactor, cut: interruption.by() ?? cutOff });
  const run = {
    folder,
    arguments: given,
    target,
    seed,
    startedAt,
    redactor,
    interruption,
    cutOff,
    policy,
    shard: closed,
  };
  const outcome = await finishLoad({ section, hlog: ran.hlog, samples, ...run });
  watch?.finish(outcome, folder.path);
  return outcome;
}

/** The words of the command line that decide what is sent and how it is judged; the loads come first. */
function argumentsOf(options: LoadOptions): string[] {
  return [
    ...options.what,
    ...optionWords("engine", options.engine),
    ...optionWords("instances", options.instances === 1 ? undefined : options.instances),
    ...optionWords("workers", options.workers === 0 ? undefined : options.workers),
    ...(options.brief ? ["--brief"] : []),
    ...optionWords("shard", options.shard),
    ...optionWords("until", options.until),
    ...optionWords("at-most", options.atMost),
    ...optionWords("policy", options.policy),
    ...optionWords("baseline", options.baseline),
  ];
}

/** What to send, and how; usage errors are thrown before anything starts. */
async function readOptions(options: LoadOptions, onProgress: OnProgress) {
  const until = options.until === undefined ? undefined : parseUntil(options.until);
  const named = options.what
    .map((name) => withEngine(findWorkload(name), options.engine))
    .map((workload) => withUntil(workload, until, options));
  const k6 = await k6Options(options, named);
  checkWorkers(options, named, onProgress);
  checkWatched(options, named);
  checkThresholds(options, named);
  if (options.shard !== undefined)
    for (const workload of named) assertNoEvents(workload, "--shard sends one share of the load");
  return { until, named, k6, requested: shardRequest(options, named), policy: await policyOf(options) };
}

/** Reads the policy, if one is named. Its code is imported on demand, because it loads every check. */
async function policyOf({ policy, baseline, shard }: LoadOptions): Promise<Policy | undefined> {
  if (policy === undefined) return undefined;
  if (shard !== undefined)
    throw new UsageError("--policy cannot be combined with --shard: it would judge one shard's share of the load", {
      hint: "Omit --policy, and put thresholds into the workload: `gauntlet merge` judges the whole load by them.",
    });
  const { policyOfLoad, readPolicy } = await import("../../run/judge/index.ts");
  return policyOfLoad(readPolicy(policy, { baseline }));
}

/** A load that several threads or processes send cannot be ended by what one of them has counted. */
function checkThresholds({ workers, shard }: LoadOptions, workloads: readonly Workload[]): void {
  for (const { thresholds = [], engine } of workloads) {
    if (engine === "k6") assertDecidableByTotals(thresholds, engine);
    const aborting = thresholds.find(({ abortOnFail }) => abortOnFail);
    if (aborting === undefined || (workers === 0 && shard === undefined)) continue;
    const option = workers > 0 ? "--workers" : "--shard";
    throw new UsageError(`abortOnFail of "${aborting.threshold.text}" needs a load that one thread sends`, {
      hint: `Omit ${option}, or abortOnFail.`,
    });
  }
}

async function watched(options: WatchOptions, run: Watched): Promise<Watch | undefined> {
  if (watchedBy(options) === undefined) return undefined;
  return (await import("../../telemetry/live/index.ts")).watchLoad(options, run);
}

function withUntil(
  workload: Workload,
  until: Until | undefined,
  { atMost, workers, shard }: Pick<LoadOptions, "atMost" | "workers" | "shard">,
): Workload {
  if (until === undefined) return workload;
  if (workers > 0 || shard !== undefined)
    throw new UsageError(
      `--until reads what one thread has counted; ${workers > 0 ? "--workers" : "--shard"} makes several`,
      {
        hint: `Omit ${workers > 0 ? "--workers" : "--shard"}.`,
      },
    );
  return boundedBy(workload, atMost);
}

function withEngine(workload: Workload, engine: string | undefined): Workload {
  if (engine === undefined || engine === workload.engine) return workload;
  if (engine !== "native" && engine !== "autocannon" && engine !== "k6")
    throw new UsageError(`unknown engine "${engine}"`, { hint: "native, autocannon or k6." });
  if (engine !== "native") assertNoEvents(workload, `${engine} does not record results by second`);
  return { ...workload, engine };
}

/** Threads are for plain workloads of the native engine; a tier run says so and sends from one. */
function checkWorkers({ workers }: LoadOptions, workloads: readonly Workload[], onProgress: OnProgress): void {
  if (workers === 0) return;
  const other = workloads.find(({ engine }) => engine !== "native");
  if (other !== undefined)
    throw new UsageError(`--workers needs the native engine, and ${other.name} is sent by ${other.engine}`, {
      hint: other.engine === "k6" ? "k6 has --instances." : "Omit --workers.",
    });
  const tiers = workloads.filter(({ tier }) => tier !== undefined).map(({ name }) => name);
  // Its phases depend on each other's responses, and one thread can send a tier's load many times over.
  if (tiers.length > 0)
    onProgress({ kind: "note", text: `${tiers.join(", ")}: a tier run sends from one thread, --workers is ignored` });
}

/** Looks for k6 before anything starts: its absence is a usage error. */
async function k6Options(
  { instances, k6 }: LoadOptions,
  workloads: readonly Workload[],
): Promise<{ readonly path: string; readonly instances: number } | undefined> {
  if (!workloads.some(({ engine }) => engine === "k6")) {
    if (instances !== 1) throw new UsageError("--instances is for k6", { hint: "Add --engine k6." });
    return undefined;
  }
  if (!Number.isInteger(instances) || instances < 1 || instances > MAX_INSTANCES)
    throw new UsageError(`--instances must be a whole number from 1 to ${MAX_INSTANCES}`);
  const { findK6 } = await import("../../engines/index.ts");
  return { path: findK6(k6, process.env), instances };
}

/** Per machine; for more machines use `gauntlet k6 export`. */
const MAX_INSTANCES = 64;
