import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";
import { InternalError } from "../../core/index.ts";
import { nowUs } from "../../http/load-client/index.ts";
import { Histogram } from "../../metrics/index.ts";
import { GeneratorHealth, mergeGenerators } from "../measure/generator-health.ts";
import type { RunningPhase } from "../measure/progress.ts";
import { mapFigures } from "../measure/second-series.ts";
import { Tally } from "../measure/tally.ts";
import type { Share, ShareOptions } from "../send/send-share.ts";
import { mergeShares, type StoredShare } from "../shards/stored-share.ts";
import type { FromWorker, Order, ShownGrowth, WorkerProgress, WorkerStart } from "./messages.ts";
import { fromShared, toShared } from "./shared-clock.ts";
import { ShownPhase } from "./shown-phase.ts";

export interface WorkersOptions
  extends Pick<ShareOptions, "originUs" | "stop" | "abort" | "onSample" | "onSpan" | "calibration"> {
  readonly workers: number;
  readonly start: Omit<WorkerStart, "part" | "inFlight" | "originUs" | "isShown" | "hasSpans">;
  /** `undefined` if the number of requests ends it. */
  readonly totalS: number | undefined;
  /** Called with the start of the measurement, on the clock of `nowUs`. */
  readonly onBegin?: ((startUs: number) => void) | undefined;
  readonly onProgress: (all: Pick<Tally, "total" | "running">, inFlight: number) => void;
  /** Called at the start with an object that shows the combined progress. */
  readonly onRunning?: ((phase: RunningPhase) => void) | undefined;
}

/** Time for the order to reach every worker, µs: they all start at the same time. */
const LEAD_US = 20_000;
/** Progress interval, ms. */
const TELL_MS = 500;

/**
 * Sends a workload from several threads. Each sends every n-th arrival over separate connections; their counts are merged,
 * including whole histograms.
 *
 * @throws InternalError if a worker ends before it is done.
 */
export async function sendByWorkers(options: WorkersOptions): Promise<Share> {
  const { workers: count, start, stop, abort, calibration } = options;
  using health = new GeneratorHealth();
  const inFlight = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  const threads = startThreads(options, inFlight);
  const order = (given: Order) => {
    for (const thread of threads) thread.order(given);
  };
  const stopAll = () => order({ kind: "stop" });
  const abortAll = () => order({ kind: "abort" });
  stop.addEventListener("abort", stopAll);
  abort.addEventListener("abort", abortAll);
  if (stop.aborted) stopAll();
  if (abort.aborted) abortAll();
  const reporting = setInterval(() => {
    const reports = threads.flatMap(({ progress }) => (progress === undefined ? [] : [progress]));
    if (reports.length > 0)
      options.onProgress(
        sumOf(reports),
        reports.reduce((sum, one) => sum + one.inFlight, 0),
      );
  }, TELL_MS);
  try {
    await Promise.all(threads.map(({ ready }) => ready));
    const beginUs = nowUs() + LEAD_US;
    order({ kind: "begin", atUs: toShared(beginUs) });
    const startUs = beginUs + start.workload.warmupS * 1_000_000;
    options.onBegin?.(startUs);
    const shown = show(options, threads, { startUs, inFlight });
    const shares = await Promise.all(threads.map(({ done }) => done));
    const merged = mergeShares(shares, { workload: start.workload, seed: start.seed, peaks: "shared" });
    // Uses the ordered time on this thread's clock: the conversion to another clock and back would change it slightly.
    merged.tally.beginAt(startUs);
    shown?.settle(merged);
    // Each thread measured itself; the usage of the whole process is known here.
    const whole = health.close(merged.tally.lag, { connectionWaits: 0, workers: count, calibration });
    const generators = shares.map(({ generator }) => generator);
    const name = (index: number) => `worker ${index + 1}`;
    return {
      ...merged,
      startUs,
      endUs: fromShared(merged.endUs),
      generator: mergeGenerators(whole, generators, name),
    };
  } finally {
    clearInterval(reporting);
    stop.removeEventListener("abort", stopAll);
    abort.removeEventListener("abort", abortAll);
    await Promise.all(threads.map((thread) => thread.end()));
  }
}

function startThreads(options: WorkersOptions, inFlight: Int32Array): Thread[] {
  const { workers: of, start, originUs, onSample, onSpan, onRunning } = options;
  const file = `./worker.${import.meta.url.endsWith(".ts") ? "ts" : "js"}`;
  const common = { ...start, inFlight, originUs: toShared(originUs) };
  const watched = { isShown: onRunning !== undefined, hasSpans: onSpan !== undefined };
  return Array.from({ length: of }, (_, index) => {
    const workerData: WorkerStart = { ...common, ...watched, part: { index, of } };
    return new Thread(new Worker(fileURLToPath(new URL(file, import.meta.url)), { workerData }), { onSample, onSpan });
  });
}

/** Shows the combined counts of the threads while they send. @returns `undefined` without a live display. */
function show(
  { onRunning, start: { workload }, originUs, totalS }: WorkersOptions,
  threads: readonly Thread[],
  { startUs, inFlight }: { readonly startUs: number; readonly inFlight: Int32Array },
): ShownPhase | undefined {
  if (onRunning === undefined) return undefined;
  const shown = new ShownPhase(
    { run: workload.name, originUs, totalS, thresholds: workload.thresholds },
    startUs,
    inFlight,
  );
  for (const [index, thread] of threads.entries()) thread.onShown = (growth) => shown.take(index, growth);
  onRunning(shown);
  return shown;
}

/** One worker, seen from the main thread. */
class Thread {
  readonly ready: Promise<void>;
  readonly done: Promise<StoredShare>;
  progress: WorkerProgress | undefined;
  onShown: ((growth: ShownGrowth) => void) | undefined;
  readonly #worker: Worker;

  constructor(worker: Worker, { onSample, onSpan }: Pick<WorkersOptions, "onSample" | "onSpan">) {
    this.#worker = worker;
    const reports = new Promise<StoredShare>((resolve, reject) => {
      worker.on("error", reject);
      worker.on("exit", () => reject(new InternalError("a worker ended before it was done")));
      worker.on("message", (message: FromWorker) => {
        if (message.kind === "done") resolve(message.share);
        else if (message.kind === "sample") onSample(message.sample);
        else if (message.kind === "span") onSpan?.(message.span);
        else if (message.kind === "shown") this.onShown?.(message);
        else if (message.kind === "progress") this.progress = message;
      });
    });
    this.done = reports;
    const ready = new Promise<void>((resolve) => {
      worker.on("message", (message: FromWorker) => {
        if (message.kind === "ready") resolve();
      });
    });
    this.ready = Promise.race([ready, reports.then(() => undefined)]);
  }

  order(given: Order): void {
    this.#worker.postMessage(given);
  }

  async end(): Promise<void> {
    await this.#worker.terminate();
  }
}

function sumOf(reports: readonly WorkerProgress[]): Pick<Tally, "total" | "running"> {
  const tally = new Tally(0);
  for (const { total } of reports)
    for (const name of Object.keys(total) as (keyof typeof total)[]) tally.total[name] += total[name];
  const running = mapFigures((figure) => Histogram.joined(reports.map((report) => report.running[figure])));
  return { total: tally.total, running };
}
