import autocannon from "autocannon";
import type { LoadClass, LoadPhase, Quantiles } from "../record/index.ts";

export interface PeakOptions {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly dialect: "chat" | "messages";
  /** Requests in flight, one connection each. */
  readonly connections: number;
  readonly durationS: number;
  readonly name: string;
  readonly signal: AbortSignal;
}

/**
 * How much a target answers with so many requests in flight. Closed loop only: autocannon's rate mode sends in bursts
 * and corrects latencies by invented values (p50 of 52 ms for a true 100 ms), so it is never used.
 *
 * Its latency is the service time; there is no due moment in a closed loop. Outcomes are told by status class alone.
 */
export async function closedLoopPeak(options: PeakOptions): Promise<LoadPhase> {
  const { url, headers, body, connections, durationS, signal } = options;
  const result = await new Promise<autocannon.Result>((resolve, reject) => {
    const instance = autocannon(
      { url, method: "POST", headers: { ...headers }, body, connections, duration: durationS },
      (error: unknown, outcome) => (error ? reject(error) : resolve(outcome)),
    );
    signal.addEventListener("abort", () => instance.stop?.(), { once: true });
    if (signal.aborted) instance.stop?.();
  });
  const { latency, duration, start } = result;
  const failed = result["5xx"] + result.errors;
  const sent = result.requests.total + result.errors;
  const ms: Quantiles = {
    p50: latency.p50,
    p90: latency.p90,
    p99: latency.p99,
    p999: latency.p99_9,
    max: latency.max,
  };
  const admitted = result["2xx"];
  const denied = result["4xx"];
  const elapsedS = duration > 0 ? duration : (Date.now() - start.getTime()) / 1_000;
  const perS = (count: number) => count / elapsedS;
  const only: LoadClass = {
    ...NO_STREAM,
    dialect: options.dialect,
    // One histogram for all answers: it may be called that of the admitted only when nothing else was answered.
    outcome: denied + failed === 0 ? "admitted" : "failed",
    count: sent,
    responseMs: denied + failed === 0 ? ms : null,
    serviceMs: denied + failed === 0 ? ms : null,
  };
  return {
    name: options.name,
    title: `closed loop, ${connections} in flight`,
    verdict: "inconclusive",
    message: "",
    startS: 0,
    durationS: elapsedS,
    offered: sent,
    sent,
    admitted,
    denied,
    failed,
    dropped: 0,
    rates: {
      offered: perS(sent),
      sent: perS(sent),
      admitted: perS(admitted),
      denied: perS(denied),
      failed: perS(failed),
    },
    peakInFlight: connections,
    connections,
    classes: [only],
    series: [],
    denials: denied === 0 ? [] : [{ reason: "4xx", dialect: options.dialect, stream: false, count: denied }],
    failures: failed === 0 ? [] : [{ what: "5xx or no answer", count: failed }],
    findings: [],
    judges: [],
    sampled: 0,
  };
}

const NO_STREAM = {
  stream: false,
  ttftMs: null,
  gapMs: null,
  connectMs: null,
  headersMs: null,
  firstByteMs: null,
  firstEventMs: null,
  longestStallMs: null,
  perTokenMs: null,
  eventsPerRead: null,
  outputTokens: 0,
} as const;
