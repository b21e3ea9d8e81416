import type { Allowance, RequestBudget } from "../../budget/index.ts";
import { nowUs } from "../../http/load-client/index.ts";
import type { TaggedHistogram } from "../../metrics/index.ts";
import type { EndingThreshold, JudgedPhase, JudgedRun, LoadInstance } from "../../record/index.ts";
import { allKeys, type Key, type Target } from "../../target/index.ts";
import { endedByThreshold, judgeStop, judgeTotals, totalsQuestions } from "../analysis/judge-totals.ts";
import { judgeLoneWaits } from "../analysis/judge-waits.ts";
import { judgeSoFar, watchThresholds } from "../analysis/thresholds.ts";
import { type EventNotice, EventRunner, type EventRunnerOptions, type ExecutedEvent } from "../events/event-runner.ts";
import { recordEvents, withoutJudged } from "../events/record-events.ts";
import { DEFAULT_BOUNDS } from "../measure/generator-health.ts";
import { phaseRecord } from "../measure/phase-record.ts";
import { type LoadProgress, ProgressMeter, type RunningPhase } from "../measure/progress.ts";
import { runRecord } from "../measure/run-record.ts";
import { type Arrivals, planOf } from "../schedule/arrivals.ts";
import { maxRequests } from "../schedule/max-requests.ts";
import { type Until, UntilKnown } from "../schedule/until.ts";
import { type StoredShare, storeShare } from "../shards/stored-share.ts";
import { PROMPT_TOKENIZER } from "../workload/prompt-text.ts";
import type { Workload } from "../workload/workload.ts";
import { shareOf } from "./drive.ts";
import { announceStop } from "./load-guard.ts";
import { boundOf, type Share, type ShareOptions, sendShare } from "./send-share.ts";

export interface LoadContext
  extends Pick<
    ShareOptions,
    "seed" | "stop" | "abort" | "redactor" | "onSample" | "onSpan" | "calibration" | "outputTokens"
  > {
  readonly target: Target;
  /** The budget from the permit of the command. */
  readonly budget: RequestBudget;
  /** Keys of one account, used in rotation. */
  readonly keys: readonly Key[];
  readonly onProgress?: ((progress: LoadProgress) => void) | undefined;
  /** Receives a line that says that the load ends early, and why. */
  readonly onNotice?: ((text: string) => void) | undefined;
  readonly onPhase?: ((run: string, phase: JudgedPhase) => void) | undefined;
  /** Called at the start of each phase with an object that shows its progress. */
  readonly onRunning?: ((phase: RunningPhase) => void) | undefined;
  /** Called at the start of a tier run with a function that returns the requests in flight. */
  readonly onGauge?: ((inFlight: () => number) => void) | undefined;
  /** Ends a plain workload as soon as this is known; only when sent from this thread. */
  readonly until?: Until | undefined;
  /** Called at the start and the end of what events of the workload do. */
  readonly onEvent?: ((notice: EventNotice) => void) | undefined;
  /** Lets the process run for this much longer after a signal, until the events are undone; ms. */
  readonly extendEnd?: ((byMs: number) => void) | undefined;
  /** Number of threads that share a plain workload; 0 or absent: sent from this thread, as are all tier runs. */
  readonly workers?: number;
  /** If several processes send a plain workload: the share of this one. */
  readonly shard?: ShardPart | undefined;
}

/** The share of one process. */
export interface ShardPart {
  /** From 0. */
  readonly index: number;
  readonly of: number;
  /** Common start, on the clock of `nowUs`; includes the warm-up. */
  readonly startUs: number;
  /** Why it may not have started on time, as text. */
  readonly problems: readonly string[];
  /** Called with the counts, with times from the start of the measurement, and with how late the shard started, ms. */
  readonly onShare: (share: StoredShare, lateMs: number) => void;
}

export interface RanLoad {
  readonly run: JudgedRun;
  readonly histograms: readonly TaggedHistogram[];
}

/** Progress interval, ms. */
const REPORT_MS = 500;
/** A share of a schedule may start as late as a generator may be. */
const LATE_MS = DEFAULT_BOUNDS.scheduleLagP99Ms;
/** Time from the plan of the events to the first request, µs. */
const LEAD_US = 10_000;
/** How often to check whether the `until` quantile is precise enough to end the load, ms. */
const POLL_INTERVAL_MS = 1_000;

/** Sends a workload as one phase and judges it: nothing may be denied or fail beyond what the workload allows. */
export async function runWorkload(workload: Workload, context: LoadContext): Promise<RanLoad> {
  const { keys, shard } = context;
  const { arrivals } = workload;
  if (arrivals === undefined) throw new Error("a workload without arrivals is a tier run");
  const originUs = shard?.startUs ?? nowUs();
  const originMs = Date.now() + (originUs - nowUs()) / 1_000;
  const meter = new ProgressMeter();
  const plannedS = planOf(arrivals).durationS ?? 0;
  const totalS = plannedS === 0 ? undefined : plannedS + workload.warmupS;
  const report = (counted: Parameters<ProgressMeter["read"]>[0], inFlight: number) =>
    context.onProgress?.(
      meter.read(counted, {
        run: workload.name,
        phase: workload.name,
        elapsedS: Math.max(0, nowUs() - originUs) / 1_000_000,
        totalS,
        inFlight,
      }),
    );
  const until = context.until && new UntilKnown(context.until, workload);
  const sending =
    until === undefined ? context : { ...context, stop: AbortSignal.any([context.stop, until.signal]), known: until };
  const reserved = context.budget.reserve(shareOf(maxRequests(workload), shard ?? { index: 0, of: 1 }));
  let spent: Allowance | undefined;
  const onSpent = (what: Allowance) => {
    spent = what;
  };
  let events: EventRunner | undefined;
  const onBegin =
    workload.events &&
    ((startUs: number) => {
      events = eventRunner(workload, { ...context, originUs, startUs });
    });
  let share: Share;
  let executed: readonly ExecutedEvent[] | undefined;
  try {
    share = await send(workload, arrivals, { ...sending, onSpent, onBegin }, { originUs, originMs, totalS }, report);
  } finally {
    // Undo the events however the load ended.
    executed = await events?.end();
  }
  const ran = recordShare(share, {
    executed,
    workload,
    keys: keys.map(({ name }) => name),
    originUs,
    originMs,
    until,
  });
  context.budget.spend(reserved, spent ?? spentByWorkers(share, workload, reserved.planned));
  return shard === undefined ? ran : { ...ran, run: { ...ran.run, shard: { index: shard.index + 1, of: shard.of } } };
}

function eventRunner(
  { name, events = [] }: Workload,
  {
    originUs,
    startUs,
    stop,
    redactor,
    onEvent,
    extendEnd,
  }: LoadContext & Pick<EventRunnerOptions, "originUs" | "startUs">,
): EventRunner {
  const redact = (text: string) => redactor.redact(text).text;
  return new EventRunner({
    ...{ run: name, events, originUs, startUs, stop, redact, extendEnd },
    onNotice: (notice) => onEvent?.(notice),
  });
}

/** Workers count only measured requests. With a warm-up, the planned number is assumed. */
function spentByWorkers({ tally }: Share, { warmupS }: Workload, planned: number): Allowance {
  return { requests: warmupS > 0 ? planned : tally.total.sent, outputTokens: tally.outputTokens };
}

export interface ShareFacts {
  readonly workload: Pick<Workload, "name" | "written" | "allow" | "namesTokens"> & Partial<Pick<Workload, "arrivals">>;
  /** What was done to the gateway meanwhile. */
  readonly executed?: readonly ExecutedEvent[] | undefined;
  /** Names of the keys. */
  readonly keys: readonly string[];
  /** Start of the run on the clock of the share, µs, and the wall clock at that time, Unix epoch milliseconds. */
  readonly originUs: number;
  readonly originMs: number;
  readonly instances?: readonly LoadInstance[];
  /** What it was sent for. */
  readonly until?: UntilKnown | undefined;
  /** What is missing from the run, as text. */
  readonly missing?: readonly string[];
}

/** Judges the counts of a plain workload and creates the record of its run. */
export function recordShare(
  share: Share,
  { workload, keys, originUs, originMs, instances, missing, until, executed }: ShareFacts,
): RanLoad {
  const { tally, outcomes, sessions, peakInFlight, connections, generator, startUs, endUs } = share;
  const disturbed =
    executed &&
    recordEvents({
      executed,
      counts: share.events?.store() ?? [],
      startS: (startUs - originUs) / 1_000_000,
      isClosed: workload.arrivals?.kind === "closed",
    });
  const totals = { ...tally.total, ...outcomes.close(), lastFailure: share.lastFailure };
  const findings = [
    ...judgeStop(share.stop),
    ...judgeTotals(workload, disturbed === undefined ? totals : withoutJudged(totals, disturbed.judged)),
    ...judgeLoneWaits(share.retries.alone),
    ...(until === undefined ? [] : [until.judge(tally)]),
  ];
  const phase = phaseRecord({
    name: workload.name,
    title: workload.name,
    ...{ tally, outcomes, sessions, peakInFlight, connections },
    startS: (startUs - originUs) / 1_000_000,
    durationS: (endUs - startUs) / 1_000_000,
    findings,
    questions: totalsQuestions(workload),
  });
  const endMs = originMs + (endUs - originUs) / 1_000;
  return {
    run: runRecord({
      name: workload.name,
      kind: "workload",
      engine: "native",
      protocol: share.protocol,
      phases: [phase],
      limits: null,
      keys: [...keys],
      workload: workload.written,
      ...(workload.namesTokens === true ? { tokenizer: PROMPT_TOKENIZER } : {}),
      startedAtMs: originMs,
      durationS: (endUs - originUs) / 1_000_000,
      retryAfter: share.retries.close(),
      generator,
      missing: missing ?? [],
      ...(instances === undefined ? {} : { instances: [...instances] }),
      ...(disturbed === undefined ? {} : { events: disturbed.events }),
      ...endedByThreshold(share.stop, progressOf(workload, tally.total.sent)),
    }),
    histograms: tally.histograms(workload.name, originMs, endMs),
  };
}

function progressOf({ arrivals }: ShareFacts["workload"], sent: number): EndingThreshold["progress"] {
  const { durationS: plannedS, requests: plannedRequests } = arrivals === undefined ? {} : planOf(arrivals);
  return plannedS === undefined || plannedRequests === undefined ? undefined : { plannedS, sent, plannedRequests };
}

/** Maximum number of threads that can share a workload: each needs a connection and something to send. */
function workersOf(requested: number, workload: Workload, arrivals: Arrivals): number {
  return Math.min(requested, boundOf(workload), planOf(arrivals).requests ?? requested);
}

/** Sends from this thread, or from workers if any are requested. */
async function send(
  workload: Workload,
  arrivals: Arrivals,
  context: LoadContext &
    Pick<ShareOptions, "onSpent"> & {
      readonly known?: UntilKnown;
      /** Called with the start of the measurement, on the clock of `nowUs`, if anything has to happen from then on. */
      readonly onBegin: ((startUs: number) => void) | undefined;
    },
  origin: { readonly originUs: number; readonly originMs: number; readonly totalS: number | undefined },
  report: (counted: Parameters<ProgressMeter["read"]>[0], inFlight: number) => void,
): Promise<Share> {
  const { target, keys, seed, workers = 0 } = context;
  if (workers > 0) {
    const { sendByWorkers } = await import("../workers/send-by-workers.ts");
    const { baseUrl, addresses, headers, extraHeaders, contract, models, timeouts, http, circuit } = target;
    return sendByWorkers({
      ...context,
      workers: workersOf(workers, workload, arrivals),
      start: {
        workload,
        target: { baseUrl, addresses, headers, extraHeaders, contract, models, timeouts, http, circuit },
        keys: keys.map((key) => ({ name: key.name, value: key.reveal() })),
        secrets: allKeys(target).map((key) => key.secret()),
        seed,
        originMs: origin.originMs,
        outputTokens: context.outputTokens ?? context.budget.left().outputTokens,
      },
      originUs: origin.originUs,
      totalS: origin.totalS,
      onProgress: report,
    });
  }
  const { shard } = context;
  let reporting: NodeJS.Timeout | undefined;
  let lateMs = 0;
  let looking: NodeJS.Timeout | undefined;
  let watching: Disposable | undefined;
  const share = await sendShare(arrivals, {
    ...context,
    outputTokens: context.outputTokens ?? context.budget.left().outputTokens,
    ...origin,
    workload,
    part: shard ?? { index: 0, of: 1 },
    joinAfterUs: shard && LATE_MS * 1_000,
    ready: (running, guard) => {
      const { name, thresholds } = workload;
      announceStop(name, { ...context, guard });
      const elapsedS = () => Math.max(0, nowUs() - running.tally.startUs) / 1_000_000;
      const judgeThresholds = thresholds && (() => judgeSoFar(thresholds, { ...running, name, elapsedS }));
      context.onRunning?.({ ...running, ...origin, run: name, name, bounds: DEFAULT_BOUNDS, judgeThresholds });
      reporting = setInterval(() => report(running.tally, running.sender.inFlight), REPORT_MS);
      watching = watchThresholds(thresholds, { ...running, guard, name, elapsedS });
      if (context.known !== undefined)
        looking = setInterval(() => context.known?.look(running.tally), POLL_INTERVAL_MS);
      if (context.onBegin !== undefined) {
        const beginUs = nowUs() + LEAD_US;
        context.onBegin(beginUs + workload.warmupS * 1_000_000);
        return Promise.resolve(beginUs);
      }
      if (shard === undefined) return undefined;
      lateMs = Math.max(0, nowUs() - shard.startUs) / 1_000;
      return Promise.resolve(shard.startUs);
    },
  });
  clearInterval(reporting);
  clearInterval(looking);
  watching?.[Symbol.dispose]();
  return shard === undefined ? share : handOver(share, shard, lateMs);
}

/** Reports the counts of a shard. A share that started late reports this as a problem of its generator. */
function handOver(share: Share, { problems, onShare }: ShardPart, lateMs: number): Share {
  const late = lateMs > LATE_MS ? [`began ${lateMs.toFixed(0)} ms late, limit ${LATE_MS} ms`] : [];
  const all = [...late, ...problems, ...share.generator.problems];
  const generator = { ...share.generator, valid: all.length === 0, problems: all };
  onShare(storeShare({ ...share, generator, startUs: 0, endUs: share.endUs - share.startUs }), lateMs);
  return { ...share, generator };
}
