import { type MessagePort, parentPort, workerData } from "node:worker_threads";
import { InFlightGauge } from "../../http/load-client/index.ts";
import { Redactor } from "../../http/recorder/index.ts";
import { mapFigures } from "../measure/second-series.ts";
import { type Running, sendShare } from "../send/send-share.ts";
import { storeShare } from "../shards/stored-share.ts";
import type { FromWorker, Order, WorkerStart } from "./messages.ts";
import { fromShared, toShared } from "./shared-clock.ts";
import { ShownShare } from "./shown-share.ts";

/** Interval of progress reports to the main thread, ms. */
const REPORT_MS = 250;

if (parentPort !== null) await work(parentPort, workerData as WorkerStart);

/** Sends one part of a workload as ordered by the main thread, and reports its counts. */
async function work(port: MessagePort, start: WorkerStart): Promise<void> {
  const { workload, target, seed, part, originMs } = start;
  const { arrivals } = workload;
  if (arrivals === undefined) throw new Error("a workload without arrivals has no parts");
  const report = (message: FromWorker) => port.postMessage(message);
  const stop = new AbortController();
  const abort = new AbortController();
  let begin = (_startUs: number): void => undefined;
  const begun = new Promise<number>((resolve) => {
    begin = resolve;
  });
  port.on("message", (order: Order) => {
    if (order.kind === "begin") begin(fromShared(order.atUs));
    else if (order.kind === "stop") stop.abort();
    else abort.abort();
  });
  let reporting: NodeJS.Timeout | undefined;
  let shown: ShownShare | undefined;
  const ready = (running: Running) => {
    const { tally, sender } = running;
    report({ kind: "ready" });
    reporting = setInterval(() => {
      report({
        kind: "progress",
        total: { ...tally.total },
        inFlight: sender.inFlight,
        running: mapFigures((figure) => tally.running[figure].store()),
      });
    }, REPORT_MS);
    return begun.then((startUs) => {
      // Not earlier: until then, the start of the tally may change.
      if (start.isShown) shown = new ShownShare(running, (growth) => report({ kind: "shown", ...growth }));
      return startUs;
    });
  };
  const share = await sendShare(arrivals, {
    workload,
    target,
    seed,
    part,
    outputTokens: start.outputTokens,
    keys: start.keys.map(({ name, value }) => ({ name, reveal: () => value })),
    originUs: fromShared(start.originUs),
    originMs,
    stop: stop.signal,
    abort: abort.signal,
    redactor: new Redactor(start.secrets),
    onSample: (sample) => report({ kind: "sample", sample }),
    onSpan: start.hasSpans ? (span) => report({ kind: "span", span }) : undefined,
    calibration: null,
    gauge: new InFlightGauge(start.inFlight),
    ready,
  });
  clearInterval(reporting);
  shown?.end();
  const stored = storeShare({ ...share, startUs: toShared(share.startUs), endUs: toShared(share.endUs) });
  report({ kind: "done", share: stored });
  // Without a listener, the thread ends.
  port.close();
}
