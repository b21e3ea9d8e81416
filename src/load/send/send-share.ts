import type { Allowance } from "../../budget/index.ts";
import type { InFlightGauge } from "../../http/load-client/index.ts";
import { nowUs, type Sender } from "../../http/load-client/index.ts";
import type { Redactor } from "../../http/recorder/index.ts";
import type { JudgedRun, LoadGenerator } from "../../record/index.ts";
import { EventTally } from "../events/event-tally.ts";
import { GeneratorHealth } from "../measure/generator-health.ts";
import { OutcomeCounts } from "../measure/phase-record.ts";
import { RetryTally } from "../measure/retry-tally.ts";
import { type Sample, Sampler } from "../measure/sampler.ts";
import { Tally } from "../measure/tally.ts";
import { type Arrivals, kindOf, planOf } from "../schedule/arrivals.ts";
import { maxRequests } from "../schedule/max-requests.ts";
import { Sessions } from "../schedule/sessions.ts";
import type { Workload } from "../workload/workload.ts";
import { type DriveOptions, drive, shareOf } from "./drive.ts";
import { LoadGuard, type LoadStop } from "./load-guard.ts";
import { type LoadTarget, mixedRequests, type WireKey } from "./prepared-requests.ts";
import { reasonReader } from "./read-reason.ts";
import { type OnSpan, SpanSampler } from "./request-span.ts";
import { senderTo } from "./sender-to.ts";

export interface ShareOptions {
  readonly workload: Workload;
  readonly target: LoadTarget;
  /** Keys of one account, used in rotation. */
  readonly keys: readonly WireKey[];
  readonly seed: number;
  /** Which part of the arrivals, of the connections and of the requests in flight. */
  readonly part: { readonly index: number; readonly of: number };
  /** Origin of the run on the clock of `nowUs`, and the wall clock at that time. */
  readonly originUs: number;
  readonly originMs: number;
  /** Stops sending; running requests are awaited. */
  readonly stop: AbortSignal;
  /** Stops everything immediately. */
  readonly abort: AbortSignal;
  readonly redactor: Redactor;
  readonly onSample: (sample: Sample) => void;
  /** Called for sampled requests, which are sent with a `traceparent`; without it, none is sampled. */
  readonly onSpan?: OnSpan | undefined;
  readonly calibration: LoadGenerator["calibration"];
  /** Counts requests in flight over all parts. */
  readonly gauge?: InFlightGauge | undefined;
  /** Maximum number of output tokens of all parts together, if the target sets a budget. */
  readonly outputTokens?: number | undefined;
  /** Called at the end with what was sent, including warm-up and retries. */
  readonly onSpent?: ((spent: Allowance) => void) | undefined;
  /** Called when connections are open; sending starts at the time that it resolves to, or immediately. */
  readonly ready?: (share: Running, guard: LoadGuard) => Promise<number> | undefined;
  /**
   * A part that is ready later than this after its start joins the schedule at its current position, µs; default: it catches up.
   */
  readonly joinAfterUs?: number | undefined;
}

/** The observable state of a share while it is being sent. */
export interface Running {
  readonly tally: Tally;
  readonly outcomes: OutcomeCounts;
  readonly sender: Pick<Sender, "inFlight" | "opened">;
}

/** The result of one part of a workload. */
export interface Share {
  readonly tally: Tally;
  readonly outcomes: OutcomeCounts;
  readonly retries: RetryTally;
  readonly generator: LoadGenerator;
  /** Start and end of the measurement, on the clock of `nowUs`. */
  readonly startUs: number;
  readonly endUs: number;
  readonly peakInFlight: number;
  readonly connections: number;
  readonly protocol: JudgedRun["protocol"];
  readonly lastFailure: string | undefined;
  /** If arrivals are sessions: how many started, and how many completed their last turn. */
  readonly sessions?: { readonly started: number; readonly completed: number } | undefined;
  /** Requests by their time relative to the events of the workload, if it has any. */
  readonly events?: EventTally | undefined;
  /** Why sending stopped, if the schedule was not completed. */
  readonly stop: LoadStop | undefined;
}

/** Approximate number of samples that a plain workload keeps. */
const SAMPLES = 200;
/** Default bound on requests in flight of an open loop: as many as arrive in four seconds. */
const OPEN_LOOP_S = 4;
const MIN_BOUND = 256;
const MAX_BOUND = 10_000;

/** Maximum number of requests in flight of a workload, and of connections that it may open. */
export function boundOf({ arrivals, maxInFlight }: Workload): number {
  const { inFlight, peakPerS: peak = MIN_BOUND } = arrivals === undefined ? {} : planOf(arrivals);
  if (inFlight !== undefined) return Math.min(maxInFlight ?? inFlight, inFlight);
  return maxInFlight ?? Math.min(MAX_BOUND, Math.max(MIN_BOUND, Math.ceil(peak * OPEN_LOOP_S)));
}

/**
 * Connections opened in advance: all for a closed loop; for an open one, as many as arrive in a sixth of a second. It opens more
 * on demand.
 */
function openAhead(arrivals: Arrivals, bound: number): number {
  const { inFlight, peakPerS = 0 } = planOf(arrivals);
  return inFlight === undefined ? Math.min(bound, 8 + Math.ceil(peakPerS / 6)) : bound;
}

type SampledPart = Pick<ShareOptions, "redactor" | "originUs" | "originMs" | "part" | "onSample">;

export function samplerOf({ redactor, originUs, originMs, part, onSample }: SampledPart): Sampler {
  const prefix = part.of === 1 ? "s" : `s${part.index + 1}-`;
  return new Sampler({ redactor, originUs, originMs, prefix, account: "main", onSample });
}

type GuardedPart = Pick<ShareOptions, "workload" | "target" | "part" | "outputTokens">;

/** This part's share of what may be sent. */
export function guardOf({ workload, target, part, outputTokens }: GuardedPart): LoadGuard {
  return new LoadGuard({
    budget: {
      requests: shareOf(maxRequests(workload), part),
      outputTokens: outputTokens === undefined ? undefined : shareOf(outputTokens, part),
    },
    circuit: circuitRule(workload, target),
  });
}

function spansOf(arrivals: Arrivals, { workload, originUs, originMs, onSpan }: ShareOptions): SpanSampler | undefined {
  const requests = planOf(arrivals).requests ?? SAMPLES * 10;
  return onSpan && new SpanSampler({ run: workload.name, requests, originUs, originMs, onSpan });
}

/** Creates the requests of arrivals and of the later turns of sessions. */
function requestsOf(
  arrivals: Arrivals,
  options: ShareOptions,
  spans: SpanSampler | undefined,
): Pick<DriveOptions, "prepared"> & { sessions?: Sessions } {
  const { mix } = options.workload;
  const source = { ...options, mix, spans };
  if (arrivals.kind === "sessions") {
    const sessions = new Sessions({ ...source, arrivals });
    return { sessions, prepared: (ordinal) => sessions.start(ordinal) };
  }
  const requests = planOf(arrivals).requests ?? SAMPLES * 10;
  const sampleEvery = Math.max(1, Math.ceil(requests / SAMPLES));
  const entries = kindOf(arrivals).trace?.entries(arrivals);
  return { prepared: mixedRequests({ ...source, entries, sampleEvery }) };
}

function isLate(beginUs: number | undefined, readyUs: number, { joinAfterUs }: ShareOptions): boolean {
  return beginUs !== undefined && joinAfterUs !== undefined && readyUs - beginUs > joinAfterUs;
}

/** Sends one part of a workload, or all of it, from this thread. */
export async function sendShare(arrivals: Arrivals, options: ShareOptions): Promise<Share> {
  const { workload, target, seed, part, originUs, stop, abort, calibration, ready, joinAfterUs } = options;
  using health = new GeneratorHealth();
  const bound = boundOf(workload);
  await using sender = senderTo(target, { maxConnections: shareOf(bound, part), gauge: options.gauge });
  abort.addEventListener("abort", () => sender.abortAll(), { once: true });
  await sender.open(shareOf(openAhead(arrivals, bound), part));
  const sampler = samplerOf(options);
  const tally = new Tally(originUs, {
    // A gauge is given if several parts count: their series will be merged, even if there is only one part.
    keep: part.of > 1 || joinAfterUs !== undefined || options.gauge !== undefined,
    objectives: workload.objectives,
  });
  const outcomes = new OutcomeCounts();
  const guard = guardOf(options);
  const spans = spansOf(arrivals, options);
  const retries = new RetryTally(workload.retryAfter, seed + part.index, part.of === 1);
  const events = workload.events && new EventTally(workload.events.map(({ atS }) => atS));
  const { prepared, sessions } = requestsOf(arrivals, options, spans);
  const beginUs = await ready?.({ tally, outcomes, sender }, guard);
  const readyUs = nowUs();
  const { startUs, endUs } = await drive({
    tally,
    retries,
    name: workload.name,
    sender,
    arrivals,
    seed,
    ...{ prepared, sessions, part },
    startUs: beginUs,
    dropBeforeUs: isLate(beginUs, readyUs, options) ? readyUs : undefined,
    reason: reasonReader(target),
    warmupS: workload.warmupS,
    guard,
    signal: AbortSignal.any([stop, guard.signal]),
    onRequest: (exchange, result) => {
      outcomes.add(exchange, result, sampler.offer(`${workload.name}/${workload.name}`, exchange, result));
      spans?.ended(exchange, result, workload.name);
      events?.ended(exchange, result, tally.startUs);
    },
    onDropped: events && ((dueUs) => events.dropped(dueUs - tally.startUs)),
  });
  await sampler.settle();
  options.onSpent?.({ requests: guard.sent, outputTokens: guard.outputTokens });
  return {
    tally,
    outcomes,
    retries,
    generator: health.close(tally.lag, { connectionWaits: sender.waits, workers: 0, calibration }),
    startUs,
    endUs,
    peakInFlight: sender.peakInFlight,
    connections: sender.opened,
    protocol: sender.protocol,
    lastFailure: sender.lastFailure,
    stop: guard.stop,
    events,
    sessions: sessions && { started: sessions.started, completed: sessions.completed },
  };
}

/**
 * The circuit breaker must not stop a workload that allows as many failures as would open it, or one whose events make the gateway
 * fail.
 */
export function circuitRule(
  { allow, events }: Workload,
  { circuit }: Pick<LoadTarget, "circuit">,
): LoadTarget["circuit"] {
  return circuit === undefined || events !== undefined || allow.failedShare >= circuit.failedShare
    ? undefined
    : circuit;
}
