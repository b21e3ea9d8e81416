import { setImmediate as nextTurn } from "node:timers/promises";
import { BudgetReached } from "../budget/index.ts";
import { ConfigError, messageOf } from "../core/index.ts";
import type { Attestation, CheckResult, Status } from "../record/index.ts";
import type { Target } from "../target/index.ts";
import {
  dialectOf,
  dialectOfCheck,
  type Instance,
  type Invariant,
  needsOf,
  type RunKind,
  type SendingCheck,
  scheduleOf,
  suiteOf,
  waitSOf,
} from "./check.ts";
import { CircuitOpen } from "./circuit-breaker.ts";
import { isLostTo } from "./gateway-stop.ts";
import { resultOf, unjudged } from "./judge.ts";
import { MissingFixture, notServed, UndeclaredDialect } from "./need.ts";
import { stateOf } from "./plan.ts";
import { planBudget, requestsOf } from "./plan-budget.ts";
import { answersIn, type Recordable } from "./recording.ts";
import type { Response } from "./response.ts";
import type { Schedule } from "./schedule.ts";
import { Session, type SessionOptions } from "./session.ts";
import { unblockLines } from "./static-fixture.ts";
import type { Traffic } from "./traffic.ts";

export interface RunnerOptions {
  readonly instances: readonly Instance[];
  readonly traffic: Traffic;
  /** Instances under way at once; default 12, beside load 7. */
  readonly parallel?: number;
  /**
   * Called when those that must come first are done: begins load that goes on beside the checks. @returns `undefined` where
   * none was begun.
   */
  readonly startLoad?: (() => Promise<LoadBeside | undefined> | undefined) | undefined;
  /** Rounds that the budget has to suffice for, this one included; default 1. */
  readonly rounds?: number;
  readonly onStart?: (instance: Instance) => void;
  readonly onRecording?: (instance: Instance, recording: Recordable) => void;
  readonly onResult?: (result: CheckResult) => void;
  /** Whether an interrupted run must end: what is not judged by then counts as not run. */
  readonly isLate?: () => boolean;
}

/** Load that goes on beside the checks. */
export interface LoadBeside {
  /** Resolves when nothing more is sent; never rejects. */
  readonly ended: Promise<void>;
}

/** Checks at once, of which the long waits take four; beside load few others, so that both have the processor they need. */
const PARALLEL = 12;
const BESIDE_LOAD = 7;

/**
 * Runs instances: those that must come first, one by one; then together, but for those of one resource; then, when load beside
 * them has ended, the exclusive ones; then the invariants over all the traffic. Returns a result for each, in the order given, also when the
 * run is interrupted.
 */
export async function runChecks(options: RunnerOptions): Promise<CheckResult[]> {
  const { instances, traffic, rounds = 1, onStart, onRecording, onResult } = options;
  const results = new Map<string, CheckResult>();
  const report = (result: CheckResult) => {
    results.set(result.id, result);
    onResult?.(result);
  };
  const { target, budget } = traffic;
  const hooked = traffic.fixtures.provisioner !== undefined;
  const runnable = instances.filter((instance) => stateOf(instance, target, hooked) === "runs");
  const run: RunKind = { isQuick: traffic.isQuick, loadFollows: traffic.loadFollows };
  const plan = planBudget(runnable, { target, left: budget.left().requests, rounds, run });
  const shares = new Map([...plan.planned].map(([id, planned]) => [id, budget.setAside(planned)]));
  const runOne = async (instance: Instance, others?: AbortSignal) => {
    // Of an interrupted run nothing is begun: hundreds of checks that are looked at in vain would hold up its end.
    if (traffic.signal.aborted) return void results.set(instance.id, notRun(instance));
    onStart?.(instance);
    const share = shares.get(instance.id);
    report(await resultFrom(instance, traffic, { onRecording, others, share }));
    if (share !== undefined) budget.release(share);
  };
  const scheduled = instances.flatMap((instance) =>
    instance.check.kind === "sending" && !plan.leftOut.has(instance.id)
      ? [{ instance, check: instance.check, schedule: scheduleOf(instance.check, target) }]
      : [],
  );
  for (const instance of instances) {
    const what = plan.leftOut.get(instance.id);
    if (what !== undefined) report(outOfBudget(instance, what, plan.needed));
  }
  const inOrder = (wanted: NonNullable<Schedule["order"]>) =>
    scheduled.filter(({ schedule: { order = "parallel" } }) => order === wanted);
  for (const { instance } of inOrder("exclusive-first")) await runOne(instance);
  const load = await options.startLoad?.();
  const parallel = options.parallel ?? (load === undefined ? PARALLEL : BESIDE_LOAD);
  const others = new AbortController();
  const background = Promise.all(inOrder("background").map(({ instance }) => runOne(instance, others.signal)));
  try {
    await pool(byResource(inOrder("parallel"), target, run), parallel, async (group) => {
      for (const { instance } of group) await runOne(instance);
    });
  } finally {
    others.abort();
    await background;
  }
  await load?.ended;
  for (const { instance } of inOrder("exclusive")) await runOne(instance);
  // What waits for an account to be quiet comes behind what needs another silence, which is part of it.
  const last = inOrder("exclusive-last").sort((a, b) => waitSOf(a.check, run) - waitSOf(b.check, run));
  for (const { instance } of last) await runOne(instance);
  for (const instance of instances) {
    if (instance.check.kind !== "invariant") continue;
    // Over the traffic of a long run each takes a while: a signal must not wait for all of them.
    await nextTurn();
    report(options.isLate?.() === true ? notRun(instance) : overAllTraffic(instance, instance.check, options));
  }
  return instances.map((instance) => results.get(instance.id) ?? notRun(instance));
}

/** Judges an invariant. */
function overAllTraffic(
  instance: Instance,
  { about, judgesStop = false }: Invariant,
  { traffic, onStart, onRecording }: RunnerOptions,
): CheckResult {
  const { dialects, skip } = traffic.target;
  const [need] = needsOf(instance, traffic.target);
  if (need !== undefined)
    return unjudged(instance, { status: "not-applicable", message: `${need}: ${notServed(dialects)}` });
  onStart?.(instance);
  const gap = about === undefined ? undefined : skip[about];
  if (gap !== undefined) return unjudged(instance, { status: "not-applicable", message: `${about}: ${gap}` });
  const { stop } = traffic.watch;
  const seen = traffic.answers.filter((answer) =>
    stop === undefined ? !traffic.signal.aborted || !wasLeft(answer) : judgesStop || !isLostTo(stop, answer),
  );
  onRecording?.(instance, seen);
  if (seen.length > 0) return resultOf(instance, seen, { attestations: [], durationMs: 0 });
  return unjudged(instance, { status: "inconclusive", message: "no request was sent that it could look at" });
}

interface ProbeRun extends Pick<SessionOptions, "others" | "share"> {
  readonly onRecording: RunnerOptions["onRecording"];
}

async function resultFrom(
  instance: Instance,
  traffic: Traffic,
  { onRecording, others, share }: ProbeRun,
): Promise<CheckResult> {
  const check = instance.check as SendingCheck;
  const attestations: Attestation[] = [
    { state: "key.valid", by: traffic.target.source === "embedded" ? "embedded" : "asserted" },
  ];
  const missing: string[] = [];
  const unblock: string[] = [];
  const dialect = dialectOf(instance, traffic.target);
  for (const need of needsOf(instance, traffic.target)) {
    const fixture = await traffic.fixtures.findVerified(need, dialect);
    if (fixture.ok) {
      attestations.push(fixture.attestation);
    } else if (fixture.skipped !== undefined) {
      return unjudged(instance, { status: "not-applicable", message: `${need}: ${fixture.skipped}` });
    } else {
      missing.push(fixture.because === undefined ? need : `${need} (${fixture.because})`);
      unblock.push(...fixture.unblock);
    }
  }
  if (missing.length > 0) {
    return unjudged(instance, { status: "blocked", message: `missing: ${missing.join(", ")}`, unblock });
  }
  const startedUs = traffic.recorder.nowUs();
  const key = scheduleOf(check, traffic.target).account === "any" ? await traffic.nextKey() : undefined;
  try {
    const run = () =>
      check.run(
        new Session(
          traffic,
          { ...instance.axes, dialect },
          {
            ...{ key, others, share, by: instance.id, anyDialect: dialectOfCheck(instance) === "any" },
            reaches: check.reaches,
          },
        ),
      );
    const judged = (recording: Recordable) =>
      resultOf(instance, recording, { attestations, durationMs: (traffic.recorder.nowUs() - startedUs) / 1_000 });
    const first = await run();
    const strays = straysOf(check, judged(first), { traffic, recording: first });
    if (strays.length > 0) await traffic.scenarios.forgetThoseWith(strays);
    const recording = strays.length > 0 ? await run() : first;
    if (await traffic.watch.wereLost(answersIn(recording))) return afterStop(instance, traffic);
    // What we left because the run ends says nothing about the gateway.
    if (traffic.signal.aborted && answersIn(recording).some(wasLeft)) return notRun(instance);
    onRecording?.(instance, recording);
    const result = judged(recording);
    if (strays.length === 0) return result;
    traffic.serverErrors.repeated(result.status === "fail");
    return { ...result, exchanges: [...result.exchanges, ...strays.map(({ id }) => id)] };
  } catch (error) {
    // A broken hook is the operator's to mend: going on would report its states as missing.
    if (error instanceof ConfigError) throw error;
    await traffic.watch.settled;
    if (traffic.watch.stop !== undefined) return afterStop(instance, traffic);
    if (error instanceof BudgetReached || error instanceof CircuitOpen)
      return unjudged(instance, { status: "inconclusive", message: error.message });
    if (traffic.signal.aborted) return notRun(instance);
    if (error instanceof UndeclaredDialect)
      return unjudged(instance, { status: "not-applicable", message: error.message });
    if (error instanceof MissingFixture)
      return unjudged(instance, {
        status: "blocked",
        message: error.message,
        unblock: unblockLines(error.need, traffic.target, error.dialect),
      });
    return unjudged(instance, { status: "harness-error", message: `the check failed to run: ${messageOf(error)}` });
  }
}

/** Statuses that a stray 5xx did not bring about. */
const UNTOUCHED: readonly Status[] = ["pass", "observed", "not-applicable", "harness-error"];

/**
 * The stray 5xx to valid requests that may have decided a check: it is then run once more. Checks that reach limits or use up accounts
 * have rules of their own for them.
 */
function straysOf(
  { reaches }: SendingCheck,
  { status }: CheckResult,
  { traffic, recording }: { readonly traffic: Traffic; readonly recording: Recordable },
): Response[] {
  if (reaches !== undefined || UNTOUCHED.includes(status) || traffic.signal.aborted) return [];
  return traffic.serverErrors.straysIn(answersIn(recording));
}

function wasLeft({ exchange }: Response): boolean {
  return exchange.ending.kind === "aborted";
}

interface Scheduled {
  readonly instance: Instance;
  readonly check: SendingCheck;
  readonly schedule: Schedule;
}

/** A shorter wait is none that others have to cover, seconds. */
const LONG_WAIT_S = 5;

/**
 * Instances of one resource, one group each; the others are groups of one. The longest waits come first, so that a rate
 * window of a minute covers everything else; then the cheapest suite and its cheapest checks, so that a broken gateway shows within
 * seconds what is wrong, and one suite after the other is done.
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
  return unjudged(instance, { status: "blocked", message: `left out: it takes ${what}`, unblock });
}

/** The result of an instance whose requests were lost, or not sent, because the gateway stopped responding. */
function afterStop(instance: Instance, { watch: { stop } }: Traffic): CheckResult {
  const message = `not judged: the gateway stopped responding${stop === undefined ? "" : ` after ${stop.after.id}`}`;
  return unjudged(instance, { status: "inconclusive", message });
}

/** The result of an instance that the run did not come to. */
export function notRun(instance: Instance): CheckResult {
  return unjudged(instance, { status: "inconclusive", message: "the run ended before this check" });
}

/** Works through a list with so many at once, in order of the list. */
async function pool<T>(items: readonly T[], parallel: number, work: (item: T) => Promise<void>): Promise<void> {
  const waiting = [...items];
  const worker = async () => {
    for (let item = waiting.shift(); item !== undefined; item = waiting.shift()) await work(item);
  };
  await Promise.all(Array.from({ length: Math.min(parallel, items.length) }, worker));
}
