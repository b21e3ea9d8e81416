import { UsageError } from "../../core/index.ts";
import { CapturedPiece, LoadExchange, nowUs } from "../../http/load-client/index.ts";
import type { ReceivedReply } from "../../judging/index.ts";
import type { LoadGenerator } from "../../record/index.ts";
import { assertOneAddress } from "../../target/index.ts";
import { endedByThreshold, judgeStop, judgeTotals, totalsQuestions } from "../analysis/judge-totals.ts";
import { watchThresholds } from "../analysis/thresholds.ts";
import { assertRepeatable } from "../external/plan-workload.ts";
import { GeneratorHealth, PEAK_BOUNDS } from "../measure/generator-health.ts";
import { OutcomeCounts, phaseRecord } from "../measure/phase-record.ts";
import { ProgressMeter } from "../measure/progress.ts";
import { runRecord } from "../measure/run-record.ts";
import { Tally } from "../measure/tally.ts";
import { planOf } from "../schedule/arrivals.ts";
import { drawRequest } from "../schedule/draw-request.ts";
import { maxRequests } from "../schedule/max-requests.ts";
import type { Workload } from "../workload/workload.ts";
import { announceStop, type LoadGuard } from "./load-guard.ts";
import { outcomeOf } from "./outcome.ts";
import { plainRequest, prepareRequest, specOf } from "./prepared-requests.ts";
import { reasonReader } from "./read-reason.ts";
import type { LoadContext, RanLoad } from "./run-workload.ts";
import { guardOf, samplerOf } from "./send-share.ts";

/** An engine that keeps this many requests in flight. */
export type ClosedLoopEngine = (options: {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly connections: number;
  readonly durationS: number;
  readonly timeoutS: number;
  readonly maySend: () => boolean;
  readonly onReply: (reply: ReceivedReply) => void;
  readonly stop: AbortSignal;
}) => Promise<void>;

/** Maximum number of body bytes kept as evidence. */
const CAPTURE_BYTES = 64 * 1024;
/** Progress interval, ms. */
const TELL_MS = 500;

/** The engine's parameters from a workload. @throws UsageError unless it is a closed loop of non-streaming requests. */
function closedLoopOf({ name, arrivals, mix: [first] }: Workload) {
  const { inFlight, durationS } = arrivals === undefined ? {} : planOf(arrivals);
  if (inFlight !== undefined && durationS !== undefined && first !== undefined && !first.stream)
    return { first, inFlight, durationS };
  throw new UsageError(
    `autocannon takes a closed loop of non-streaming replies with durationS; ${name} is something else`,
    { hint: "Omit --engine: the native engine runs every workload." },
  );
}

/**
 * Sends a closed loop with an external engine; the results are counted, bounded and judged like load of the native
 * engine. Uses only the first request class: the engine sends one kind.
 *
 * @throws UsageError unless the workload is a closed loop of non-streaming requests with a duration.
 */
export async function runPeak(workload: Workload, context: LoadContext, engine: ClosedLoopEngine): Promise<RanLoad> {
  const { name } = workload;
  const { target, stop } = context;
  const { first, inFlight: requested, durationS } = closedLoopOf(workload);
  assertOneAddress(target, "autocannon");
  assertRepeatable({ ...workload, mix: [first] }, "autocannon");
  const drawn = drawRequest({ mix: [first], seed: 0 }, 0);
  const spec = { ...specOf(target, drawn, 0), key: target.keys.valid };
  const prepared = prepareRequest(target, spec);
  const plain = plainRequest(target, spec);
  const startedAtMs = Date.now();
  const startUs = nowUs();
  const tally = new Tally(startUs);
  const outcomes = new OutcomeCounts();
  const part = { index: 0, of: 1 };
  const reserved = context.budget.reserve(maxRequests(workload));
  const guard = guardOf({ ...context, workload, part });
  announceStop(name, { ...context, guard });
  const sampler = samplerOf({ ...context, originUs: startUs, originMs: startedAtMs, part });
  const reason = reasonReader(target);
  using health = new GeneratorHealth();
  const meter = new ProgressMeter();
  let inFlight = 0;
  let peakInFlight = 0;
  const elapsedS = () => (nowUs() - startUs) / 1_000_000;
  const reporting = setInterval(() => {
    context.onProgress?.(
      meter.read(tally, { run: name, phase: name, elapsedS: elapsedS(), totalS: durationS, inFlight }),
    );
  }, TELL_MS);
  using _watching = watchThresholds(workload.thresholds, { name, tally, outcomes, guard, elapsedS });
  const connections = Math.min(requested, maxRequests(workload));
  try {
    await engine({
      ...plain,
      headers: Object.fromEntries(plain.headers),
      connections,
      durationS,
      timeoutS: target.timeouts.responseMs / 1_000,
      stop: AbortSignal.any([stop, guard.signal]),
      maySend: () => {
        if (!guard.take()) return false;
        peakInFlight = Math.max(peakInFlight, ++inFlight);
        return true;
      },
      onReply: (reply) => {
        const exchange = exchangeOf(prepared, reply, inFlight--);
        const result = outcomeOf(exchange, reason);
        tally.offered(exchange.dueUs);
        tally.sent(exchange.dueUs, exchange.sentUs, exchange.inFlight);
        tally.ended(exchange, result.outcome);
        guard.note(exchange, result);
        outcomes.add(exchange, result, sampler.offer(`${name}/${name}`, exchange, result));
      },
    });
  } finally {
    clearInterval(reporting);
  }
  const endUs = nowUs();
  context.budget.spend(reserved, { requests: guard.sent, outputTokens: guard.outputTokens });
  await sampler.settle();
  const more = { connectionWaits: 0, workers: 0, calibration: context.calibration };
  return recorded(workload, {
    ...{ tally, outcomes, guard, peakInFlight, connections, startedAtMs },
    generator: health.close(tally.lag, more, PEAK_BOUNDS),
    key: spec.key.name,
    durationS: (endUs - startUs) / 1_000_000,
  });
}

interface Sent {
  readonly tally: Tally;
  readonly outcomes: OutcomeCounts;
  readonly guard: LoadGuard;
  readonly generator: LoadGenerator;
  readonly peakInFlight: number;
  readonly connections: number;
  /** Name of the key. */
  readonly key: string;
  readonly startedAtMs: number;
  readonly durationS: number;
}

/** The record of what was sent: one phase. */
function recorded(workload: Workload, sent: Sent): RanLoad {
  const { tally, outcomes, guard, generator, key, startedAtMs, durationS } = sent;
  const { name, written } = workload;
  const phase = phaseRecord({
    name,
    title: `closed loop, ${closedLoopOf(workload).inFlight} in flight`,
    tally,
    outcomes,
    startS: 0,
    durationS,
    peakInFlight: sent.peakInFlight,
    connections: sent.connections,
    findings: [...judgeStop(guard.stop), ...judgeTotals(workload, { ...tally.total, ...outcomes.close() })],
    questions: totalsQuestions(workload),
  });
  return {
    run: runRecord({
      ...{ name, kind: "workload", engine: "autocannon", phases: [phase], limits: null, keys: [key] },
      ...{ workload: written, startedAtMs, durationS, retryAfter: null, generator },
      ...endedByThreshold(guard.stop),
    }),
    histograms: tally.histograms(name, startedAtMs, Date.now()),
  };
}

/** A closed loop has no due times: a request is due when it is sent. */
function exchangeOf(prepared: LoadExchange["prepared"], reply: ReceivedReply, inFlight: number): LoadExchange {
  const exchange = new LoadExchange(prepared, reply.sentUs, CAPTURE_BYTES);
  exchange.sentUs = reply.sentUs;
  exchange.headUs = reply.headUs ?? 0;
  exchange.endUs = reply.endUs;
  exchange.status = reply.status ?? 0;
  exchange.head = reply.head;
  exchange.ending = reply.ending;
  exchange.connection = reply.connection;
  exchange.inFlight = inFlight;
  exchange.bodyBytes = Buffer.byteLength(reply.body);
  if (reply.body !== "" && exchange.bodyBytes <= CAPTURE_BYTES)
    exchange.pieces.push(new CapturedPiece(reply.endUs, Buffer.from(reply.body)));
  if (reply.ending === "complete") exchange.checkText(reply.body);
  return exchange;
}
