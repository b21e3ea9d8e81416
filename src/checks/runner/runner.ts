import { setImmediate as nextTurn } from "node:timers/promises";
import type { CheckResult } from "../../record/index.ts";
import type { ModelRole, Target } from "../../target/index.ts";
import {
  dialectOf,
  type Instance,
  type Invariant,
  needsOf,
  type SendingCheck,
  scheduleOf,
  suiteOf,
  waitSOf,
} from "../declare/check.ts";
import { notServed } from "../declare/need.ts";
import type { RunKind, Schedule } from "../declare/schedule.ts";
import { isLostTo } from "../gateway/gateway-stop.ts";
import { isRefusedIn } from "../gateway/outage.ts";
import { stateOf } from "../plan/plan.ts";
import { planBudget, requestsOf } from "../plan/plan-budget.ts";
import type { Recordable } from "../response/recording.ts";
import { PARALLEL } from "../traffic/reply-times.ts";
import { failsUpstream } from "../traffic/server-errors.ts";
import type { Traffic } from "../traffic/traffic.ts";
import { resultOf, unjudged } from "./judge.ts";
import { runPool } from "./pool.ts";
import { afterStop, notRun, runInstance, wasAborted } from "./run-instance.ts";
import type { SessionOptions } from "./session.ts";

export interface RunnerOptions {
  readonly instances: readonly Instance[];
  readonly traffic: Traffic;
  /** Number of concurrent instances; default 12, or 7 with concurrent load. */
  readonly parallel?: number;
  /**
   * Called when the `exclusive-first` checks are done: starts load that runs concurrently with the checks. @returns `undefined`
   * if none was started.
   */
  readonly startLoad?: (() => Promise<ConcurrentLoad | undefined> | undefined) | undefined;
  /** Rounds that the budget has to cover, including this one; default 1. */
  readonly rounds?: number;
  readonly onStart?: (instance: Instance) => void;
  readonly onRecording?: (instance: Instance, recording: Recordable) => void;
  readonly onResult?: (result: CheckResult) => void;
  /** Whether an interrupted run must end: anything not judged by then counts as not run. */
  readonly isLate?: () => boolean;
}

/** Load that runs concurrently with the checks. */
export interface ConcurrentLoad {
  /** Resolves when nothing more is sent; never rejects. */
  readonly ended: Promise<void>;
}

/** Maximum number of concurrent checks during load: few, so that both get the CPU time they need. */
const MAX_PARALLEL_DURING_LOAD = 7;

/**
 * Runs instances: the `exclusive-first` ones one by one; then together, except those that share a resource; then, when
 * concurrent load has ended, the exclusive ones; then those that make providers fail; then the invariants over all the traffic.
 * Returns a result for each, in the given order, even if the run is interrupted.
 */
export async function runChecks(options: RunnerOptions): Promise<CheckResult[]> {
  const { instances, traffic, rounds = 1, onStart, onRecording, onResult } = options;
  const results = new Map<string, CheckResult>();
  const report = (result: CheckResult) => {
    results.set(result.id, result);
    onResult?.(result);
  };
  const { target, budget, run } = traffic;
  const canCreateKeys = traffic.fixtures.provisioner !== undefined;
  const runnable = instances.filter((instance) => stateOf(instance, target, canCreateKeys) === "runs");
  const plan = planBudget(runnable, { target, left: budget.left().requests, rounds, run });
  const shares = new Map([...plan.planned].map(([id, planned]) => [id, budget.setAside(planned)]));
  const unreached = (instance: Instance) =>
    traffic.watch.stop === undefined ? notRun(instance) : afterStop(instance, traffic);
  const runOne: RunOne = async (instance, waits = {}) => {
    // An interrupted run starts nothing more: hundreds of checks that cannot succeed would delay its end.
    if (traffic.signal.aborted) return void results.set(instance.id, unreached(instance));
    onStart?.(instance);
    const share = shares.get(instance.id);
    report(await runInstance(instance, traffic, { onRecording, share, ...waits }));
    if (share !== undefined) budget.release(share);
  };
  const scheduled = instances.flatMap((instance) =>
    instance.check.kind === "sending" && !plan.omitted.has(instance.id)
      ? [{ instance, check: instance.check, schedule: scheduleOf(instance.check, target) }]
      : [],
  );
  for (const instance of instances) {
    const what = plan.omitted.get(instance.id);
    if (what !== undefined) report(outOfBudget(instance, what, plan.needed));
  }
  await runInOrder(scheduled, options, { run, runOne });
  for (const instance of instances) {
    if (instance.check.kind !== "invariant") continue;
    // Each takes a while over the traffic of a long run, and a signal must not wait for all of them.
    await nextTurn();
    report(options.isLate?.() === true ? notRun(instance) : overAllTraffic(instance, instance.check, options));
  }
  return instances.map((instance) => {
    const result = results.get(instance.id);
    // Whether the gateway stopped may be known only after what was in flight had been aborted.
    return result === undefined || result.reason?.kind === "not-reached" ? unreached(instance) : result;
  });
}

type RunOne = (instance: Instance, waits?: Pick<SessionOptions, "others" | "afterOthers">) => Promise<void>;

/** Runs the instances that send, by their schedules. */
async function runInOrder(
  scheduled: readonly Scheduled[],
  { traffic, ...options }: RunnerOptions,
  { run, runOne }: { readonly run: RunKind; readonly runOne: RunOne },
): Promise<void> {
  const { target } = traffic;
  const withOrder = (expected: NonNullable<Schedule["order"]>) =>
    scheduled.filter(({ schedule: { order = "parallel" } }) => order === expected);
  const failing = (some: readonly Scheduled[], fails = true) =>
    some.filter(({ schedule: { failsUpstream = false } }) => failsUpstream === fails);
  const recoverAfter = async (some: readonly Scheduled[]) => {
    if (failing(some).length > 0) await traffic.recovered();
  };
  const oneByOne = async (some: readonly Scheduled[]) => {
    for (const { instance } of some) await runOne(instance);
    await recoverAfter(some);
  };
  const together = (some: readonly Scheduled[], most: number) => {
    const parallel = () => options.parallel ?? Math.round(most * traffic.replyTimes.parallelFactor);
    return runPool(byResource(some, target, run), parallel, async (group, afterOthers) => {
      for (const { instance } of group) await runOne(instance, { afterOthers });
    });
  };
  await oneByOne(withOrder("exclusive-first"));
  const load = await options.startLoad?.();
  const others = new AbortController();
  const background = Promise.all(
    withOrder("background").map(({ instance }) => runOne(instance, { others: others.signal })),
  );
  const [parallel, exclusive] = [withOrder("parallel"), withOrder("exclusive")];
  const trials = tryModels([...failing(parallel, false), ...withOrder("exclusive-last")], traffic);
  try {
    await together(failing(parallel, false), load === undefined ? PARALLEL : MAX_PARALLEL_DURING_LOAD);
  } finally {
    others.abort();
    await background;
  }
  await trials;
  await load?.ended;
  await oneByOne(failing(exclusive, false));
  await together(failing(parallel), PARALLEL);
  await recoverAfter(parallel);
  await oneByOne(failing(exclusive));
  // Longest wait last: the time spent on the others counts toward the quiet time that it needs.
  await oneByOne(withOrder("exclusive-last").sort((a, b) => waitSOf(a.check, run) - waitSOf(b.check, run)));
}

/**
 * Verifies the models that checks need, all concurrently, so that no check waits for it. Models whose provider fails are left
 * to the checks that need them.
 */
async function tryModels(scheduled: readonly Scheduled[], traffic: Traffic): Promise<void> {
  const { target, fixtures } = traffic;
  const needed = scheduled
    .filter(({ instance }) => stateOf(instance, target, fixtures.provisioner !== undefined) === "runs")
    .flatMap(({ instance }) =>
      needsOf(instance, target)
        .filter((need) => need.startsWith("model.") && !failsUpstream({ model: need.slice(6) as ModelRole }))
        .map((need) => ({ need, dialect: dialectOf(instance, target) })),
    );
  // If an error ends the run, the checks that need the model report it.
  await Promise.allSettled(needed.map(({ need, dialect }) => fixtures.findVerified(need, dialect)));
}

function overAllTraffic(
  instance: Instance,
  { about, judgesStop = false, countsRequests = false }: Invariant,
  { traffic, onStart, onRecording }: RunnerOptions,
): CheckResult {
  const { dialects, skip } = traffic.target;
  const [need] = needsOf(instance, traffic.target);
  if (need !== undefined)
    return unjudged(instance, {
      status: "not-applicable",
      reason: { kind: "declared-gap", about: need, why: notServed(dialects) },
    });
  onStart?.(instance);
  const gap = about === undefined ? undefined : skip[about];
  if (gap !== undefined)
    return unjudged(instance, {
      status: "not-applicable",
      reason: { kind: "declared-gap", about: about ?? "", why: gap },
    });
  const { stop } = traffic.watch;
  const { outages } = traffic.watch.recovery;
  const seen = traffic.responses.filter((response) => {
    if (judgesStop) return stop !== undefined || !traffic.signal.aborted || !wasAborted(response);
    if (isRefusedIn(outages, response)) return false;
    if (countsRequests) return true;
    return stop === undefined ? !traffic.signal.aborted || !wasAborted(response) : !isLostTo(stop, response);
  });
  onRecording?.(instance, seen);
  if (seen.length > 0) return resultOf(instance, seen, { attestations: [], durationMs: 0 });
  return unjudged(instance, { status: "inconclusive", reason: { kind: "nothing-to-judge" } });
}

interface Scheduled {
  readonly instance: Instance;
  readonly check: SendingCheck;
  readonly schedule: Schedule;
}

/** Minimum wait that other checks should overlap with, seconds. */
const LONG_WAIT_S = 5;

/**
 * One group for all instances of a resource; the others are groups of one. The longest waits come first, so that a rate window
 * of a minute overlaps with everything else; then the cheapest suite and its cheapest checks, so that a broken gateway shows
 * within seconds, and suites finish one after another.
 */
function byResource(scheduled: readonly Scheduled[], target: Target, run: RunKind): Scheduled[][] {
  const groups = new Map<string, Scheduled[]>();
  for (const item of scheduled) {
    const { resource = item.instance.id } = item.schedule;
    const group = groups.get(resource);
    if (group === undefined) groups.set(resource, [item]);
    else group.push(item);
  }
  const longest = (group: readonly Scheduled[]) => {
    const waitS = Math.max(...group.map(({ check }) => waitSOf(check, run)));
    return waitS < LONG_WAIT_S ? 0 : waitS;
  };
  const requests = (some: readonly Scheduled[]) =>
    requestsOf(
      some.map(({ instance }) => instance),
      target,
      run,
    );
  const suite = ([first]: readonly Scheduled[]) => suiteOf(first?.check.id ?? "");
  const ofSuite = new Map<string, number>();
  for (const group of groups.values())
    if (longest(group) === 0) ofSuite.set(suite(group), (ofSuite.get(suite(group)) ?? 0) + requests(group));
  const suiteCost = (group: readonly Scheduled[]) => ofSuite.get(suite(group)) ?? 0;
  return [...groups.values()].sort(
    (a, b) => longest(b) - longest(a) || suiteCost(a) - suiteCost(b) || requests(a) - requests(b),
  );
}

function outOfBudget(instance: Instance, what: string, needed: number): CheckResult {
  const unblock = ["budget:", `  requests: ${needed}`];
  return unjudged(instance, { status: "blocked", reason: { kind: "over-budget", needs: what }, unblock });
}
