import type { Redactor } from "../client/index.ts";
import type { TaggedHistogram } from "../metrics/index.ts";
import type { LoadFinding, LoadGenerator, LoadPhase, LoadRun } from "../record/index.ts";
import { allKeys, type Key, type Target } from "../target/index.ts";
import { nowUs } from "./http/load-exchange.ts";
import { claim, fact, phaseRecord } from "./phase-record.ts";
import { type LoadProgress, ProgressMeter } from "./progress.ts";
import type { Sample } from "./sampler.ts";
import { type Arrivals, planOf } from "./schedule.ts";
import { boundOf, type Share, sendShare } from "./send-share.ts";
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
  /** Threads that share a plain workload; 0 or absent: it is sent from this one. Tier runs always are. */
  readonly workers?: number;
}

export interface RanLoad {
  readonly run: LoadRun;
  readonly histograms: readonly TaggedHistogram[];
}

/** Progress, ms. */
const TELL_MS = 500;

/** Sends a workload as one phase and judges what was asked of it: nothing denied or failed beyond what it allows. */
export async function runWorkload(workload: Workload, context: LoadContext): Promise<RanLoad> {
  const { keys } = context;
  const { arrivals } = workload;
  if (arrivals === undefined) throw new Error("a workload without arrivals is a tier run");
  const startedAt = new Date();
  const originUs = nowUs();
  const meter = new ProgressMeter();
  const plannedS = planOf(arrivals).durationS ?? 0;
  const tell = (counted: Parameters<ProgressMeter["read"]>[0], inFlight: number) =>
    context.onProgress?.(
      meter.read(counted, {
        run: workload.name,
        phase: workload.name,
        elapsedS: (nowUs() - originUs) / 1_000_000,
        totalS: plannedS === 0 ? undefined : plannedS + workload.warmupS,
        inFlight,
      }),
    );
  const share = await send(workload, arrivals, context, { originUs, originMs: startedAt.getTime() }, tell);
  const { tally, generator, startUs, endUs } = share;
  const durationS = (endUs - startUs) / 1_000_000;
  const findings = [...stoppedEarly(share.stoppedBy), ...judgeTotals(workload, tally.total, share.lastFailure)];
  const phase = phaseRecord({
    name: workload.name,
    title: workload.name,
    tally,
    ledger: share.ledger,
    startS: (startUs - originUs) / 1_000_000,
    durationS,
    peakInFlight: share.peakInFlight,
    connections: share.connections,
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
      protocol: share.protocol,
      ...settled,
      limits: null,
      keys: keys.map(({ name }) => name),
      workload: workload.written,
      startedAt: startedAt.toISOString(),
      durationS: (endUs - originUs) / 1_000_000,
      phases: [generator.valid ? phase : { ...phase, verdict: "inconclusive" }],
      retryAfter: share.retries.close(),
      generator,
    },
    histograms: tally.histograms(workload.name, startedAt.getTime(), endMs),
  };
}

/** What a circuit says that opened: the run ended before its end, and why. */
export function stoppedEarly(why: string | undefined): LoadFinding[] {
  if (why === undefined) return [];
  return [
    claim(
      "load.circuit",
      "The target stands the load to its end",
      [],
      false,
      "every request sent",
      `${why}; the rest was not sent`,
    ),
  ];
}

/** Threads that a workload can be shared among: each must have a connection and something to send. */
function workersOf(asked: number, workload: Workload, arrivals: Arrivals): number {
  return Math.min(asked, boundOf(workload), planOf(arrivals).requests ?? asked);
}

/** Sends from this thread, or from workers where some are wanted. */
async function send(
  workload: Workload,
  arrivals: Arrivals,
  context: LoadContext,
  origin: { readonly originUs: number; readonly originMs: number },
  tell: (counted: Parameters<ProgressMeter["read"]>[0], inFlight: number) => void,
): Promise<Share> {
  const { target, keys, seed, workers = 0 } = context;
  if (workers > 0) {
    const { sendByWorkers } = await import("./workers/send-by-workers.ts");
    const { baseUrl, headers, extraHeaders, contract, models, timeouts, http, circuit } = target;
    return sendByWorkers({
      ...context,
      workers: workersOf(workers, workload, arrivals),
      start: {
        workload,
        target: { baseUrl, headers, extraHeaders, contract, models, timeouts, http, circuit },
        keys: keys.map((key) => ({ name: key.name, value: key.reveal() })),
        secrets: allKeys(target).map((key) => ({ name: `key.${key.name}`, value: key.reveal() })),
        seed,
        originMs: origin.originMs,
      },
      originUs: origin.originUs,
      onProgress: tell,
    });
  }
  let telling: NodeJS.Timeout | undefined;
  const share = await sendShare(arrivals, {
    ...context,
    ...origin,
    workload,
    part: { index: 0, of: 1 },
    ready: (running) => {
      telling = setInterval(() => tell(running.tally, running.inFlight), TELL_MS);
      return undefined;
    },
  });
  clearInterval(telling);
  return share;
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
