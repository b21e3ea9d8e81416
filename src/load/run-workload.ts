import type { Redactor } from "../client/index.ts";
import type { TaggedHistogram } from "../metrics/index.ts";
import type { LoadFinding, LoadGenerator, LoadPhase, LoadRun } from "../record/index.ts";
import type { Key, Target } from "../target/index.ts";
import { endpointUrl } from "../wire/index.ts";
import { drive } from "./drive.ts";
import { GeneratorHealth } from "./generator-health.ts";
import { nowUs } from "./http/load-exchange.ts";
import { Sender } from "./http/sender.ts";
import { claim, fact, Ledger, phaseRecord } from "./phase-record.ts";
import { type LoadProgress, ProgressMeter } from "./progress.ts";
import { reasonReader } from "./read-reason.ts";
import { RetryTally } from "./retry-tally.ts";
import { type Sample, Sampler } from "./sampler.ts";
import { planOf } from "./schedule.ts";
import { mixedShots, tracedShots } from "./shots.ts";
import { Tally } from "./tally.ts";
import type { Workload } from "./workload.ts";

export interface LoadContext {
  readonly target: Target;
  /** Keys of one account; they take turns. */
  readonly keys: readonly Key[];
  readonly seed: number;
  /** Ends the sending; what runs is waited for. */
  readonly stop: AbortSignal;
  /** Ends everything now. */
  readonly abort: AbortSignal;
  readonly redactor: Redactor;
  readonly onSample: (sample: Sample) => void;
  readonly onProgress?: ((progress: LoadProgress) => void) | undefined;
  readonly onPhase?: ((run: string, phase: LoadPhase) => void) | undefined;
  readonly calibration: LoadGenerator["calibration"];
}

export interface RanLoad {
  readonly run: LoadRun;
  readonly histograms: readonly TaggedHistogram[];
}

/** Samples that a plain workload keeps, about. */
const SAMPLES = 200;
/** Progress, ms. */
const TELL_MS = 500;
/** Most requests in flight of an open loop that names no bound: four seconds' worth. */
const OPEN_LOOP_S = 4;
const LEAST_BOUND = 256;
const MOST_BOUND = 10_000;

/** Most requests in flight of a workload, which is the number of connections that it may open. */
export function boundOf(workload: Workload): number {
  const { arrivals, maxInFlight } = workload;
  if (arrivals?.kind === "closed") return Math.min(maxInFlight ?? arrivals.inFlight, arrivals.inFlight);
  const peak = arrivals === undefined ? LEAST_BOUND : (planOf(arrivals).peakPerS ?? LEAST_BOUND);
  return maxInFlight ?? Math.min(MOST_BOUND, Math.max(LEAST_BOUND, Math.ceil(peak * OPEN_LOOP_S)));
}

/** Connections that are opened ahead: all of a closed loop, a sixth of a second's worth of an open one; it opens more as it needs them. */
function openAhead(workload: Workload, bound: number): number {
  const { arrivals } = workload;
  if (arrivals === undefined || arrivals.kind === "closed") return bound;
  return Math.min(bound, 8 + Math.ceil((planOf(arrivals).peakPerS ?? 0) / 6));
}

/** Sends a workload as one phase and judges what was asked of it: nothing denied or failed beyond what it allows. */
export async function runWorkload(workload: Workload, context: LoadContext): Promise<RanLoad> {
  const { target, keys, seed, stop, abort, redactor } = context;
  const { arrivals } = workload;
  if (arrivals === undefined) throw new Error("a workload without arrivals is a tier run");
  const startedAt = new Date();
  const originUs = nowUs();
  using health = new GeneratorHealth();
  const bound = boundOf(workload);
  await using sender = new Sender({
    url: endpointUrl(target.baseUrl, "chat"),
    maxConnections: bound,
    deadlineMs: target.timeouts.answerMs,
    idleMs: target.timeouts.idleMs,
  });
  abort.addEventListener("abort", () => sender.abortAll(), { once: true });
  await sender.open(openAhead(workload, bound));
  const sampler = new Sampler({
    baseUrl: target.baseUrl,
    redactor,
    originUs,
    originMs: startedAt.getTime(),
    prefix: "s",
    account: "main",
    onSample: context.onSample,
  });
  const ledger = new Ledger();
  const requests = planOf(arrivals).requests ?? SAMPLES * 10;
  const shot =
    arrivals.kind === "replay"
      ? tracedShots(target, keys, arrivals.entries)
      : mixedShots({ target, keys, mix: workload.mix, seed, sampleEvery: Math.max(1, Math.ceil(requests / SAMPLES)) });
  const tally = new Tally(originUs);
  const meter = new ProgressMeter();
  const retries = new RetryTally(workload.behaviour, seed);
  const driving = drive({
    tally,
    retries,
    name: workload.name,
    sender,
    arrivals,
    seed,
    shot,
    reason: reasonReader(target),
    warmupS: workload.warmupS,
    signal: stop,
    onRequest: (exchange, came) =>
      ledger.add(exchange, came, sampler.offer(`${workload.name}/${workload.name}`, exchange, came)),
  });
  const total = (planOf(arrivals).durationS ?? 0) + workload.warmupS;
  const telling = setInterval(() => {
    const now = {
      run: workload.name,
      phase: workload.name,
      elapsedS: (nowUs() - originUs) / 1_000_000,
      totalS: total === 0 ? undefined : total,
      inFlight: sender.inFlight,
    };
    context.onProgress?.(meter.read(tally, now));
  }, TELL_MS);
  const { startUs, endUs } = await driving;
  clearInterval(telling);
  await sampler.settle();
  const generator = health.close(tally.lag, {
    connectionWaits: sender.waits,
    workers: 0,
    calibration: context.calibration,
  });
  const durationS = (endUs - startUs) / 1_000_000;
  const findings = judgeTotals(workload, tally.total, sender.lastFailure);
  const phase = phaseRecord({
    name: workload.name,
    title: workload.name,
    tally,
    ledger,
    startS: (startUs - originUs) / 1_000_000,
    durationS,
    peakInFlight: sender.peakInFlight,
    connections: sender.opened,
    findings,
  });
  const endMs = startedAt.getTime() + (endUs - originUs) / 1_000;
  const settled = generator.valid
    ? { verdict: phase.verdict, reasons: phase.verdict === "pass" ? [] : [phase.message] }
    : {
        verdict: "inconclusive" as const,
        reasons: generator.problems.map((problem) => `inconclusive: generator: ${problem}`),
      };
  return {
    run: {
      name: workload.name,
      kind: "workload",
      engine: "native",
      ...settled,
      limits: null,
      keys: keys.map(({ name }) => name),
      workload: workload.written,
      startedAt: startedAt.toISOString(),
      durationS: (endUs - originUs) / 1_000_000,
      phases: [generator.valid ? phase : { ...phase, verdict: "inconclusive" }],
      retryAfter: retries.close(),
      generator,
    },
    histograms: tally.histograms(workload.name, startedAt.getTime(), endMs),
  };
}

/** What a workload asks of its totals: nothing denied or failed beyond what it allows, nothing dropped. */
export function judgeTotals(
  { allow }: Pick<Workload, "allow">,
  { sent, admitted, denied, failed, dropped }: Record<"sent" | "admitted" | "denied" | "failed" | "dropped", number>,
  lastFailure?: string,
): LoadFinding[] {
  if (sent === 0 || admitted + denied === 0) {
    return [
      fact(
        "nothing-answered",
        "Something is answered",
        [],
        `nothing was answered${lastFailure === undefined ? "" : `: ${lastFailure}`}`,
      ),
    ];
  }
  const share = (count: number) => `${((count / sent) * 100).toFixed(2)} % of ${sent}`;
  const percent = (allowed: number) => `at most ${allowed * 100} %`;
  return [
    claim(
      "load.denied",
      "Requests are admitted",
      [],
      denied <= sent * allow.deniedShare,
      percent(allow.deniedShare),
      `${denied} denied, ${share(denied)}`,
    ),
    claim(
      "load.failed",
      "Requests are answered to the end",
      [],
      failed <= sent * allow.failedShare,
      percent(allow.failedShare),
      `${failed} failed, ${share(failed)}`,
    ),
    claim(
      "load.dropped",
      "No arrival is dropped at the bound on requests in flight",
      [],
      dropped === 0,
      "0",
      `${dropped} dropped`,
    ),
  ];
}
