import type { CheckResult, ExchangeLine } from "../record/index.ts";
import { type Attempt, type ClientRun, headerOf } from "./observation.ts";
import { judgeScenario, scenarioNotRun } from "./result.ts";
import { type RunOptions, runScenario } from "./run-scenario.ts";
import type { Scenario } from "./scenario.ts";

interface ClientOptions extends RunOptions {
  readonly scenarios: readonly Scenario[];
  /** Maximum number of scenarios that run at the same time. */
  readonly jobs: number;
  readonly onStart: (scenario: Scenario) => void;
  /** Called with every result, the runs it is based on, and its evidence, not redacted. */
  readonly onResult: (result: CheckResult, runs: readonly ClientRun[], evidence: readonly ExchangeLine[]) => void;
}

interface Judged {
  /** One per scenario, in the same order. */
  readonly results: readonly CheckResult[];
  readonly requests: number;
}

/** Runs a client's command through the scenarios and judges its requests. */
export async function runClient(options: ClientOptions): Promise<Judged> {
  const startMs = performance.now();
  const waiting = [...options.scenarios];
  const results = new Map<Scenario, CheckResult>();
  let requests = 0;
  const stopped = new AbortController();
  const own = { ...options, signal: AbortSignal.any([options.signal, stopped.signal]) };
  const work = async () => {
    for (let scenario = waiting.shift(); scenario !== undefined; scenario = waiting.shift()) {
      if (own.signal.aborted) return;
      options.onStart(scenario);
      const copies = Array.from({ length: scenario.copies ?? 1 }, (_, copy) => runScenario(scenario, copy, own));
      const runs = await Promise.all(copies);
      requests += runs.reduce((sum, { attempts, others }) => sum + attempts.length + others.length, 0);
      if (own.signal.aborted) return;
      const result = judgeScenario(scenario, runs, options);
      results.set(scenario, result);
      const evidence = runs
        .flatMap(({ attempts, others }) => [...attempts, ...others])
        .map((attempt) => evidenceOf(attempt, scenario.name, startMs));
      options.onResult(result, runs, evidence);
    }
  };
  try {
    await Promise.all(Array.from({ length: options.jobs }, work));
  } finally {
    // One failed to start: stop the others immediately.
    stopped.abort();
  }
  return { results: options.scenarios.map((scenario) => results.get(scenario) ?? scenarioNotRun(scenario)), requests };
}

/**
 * A line of `exchanges.ndjson.gz` in the format that reports read. Not redacted: it contains the key.
 *
 * @param startMs monotonic milliseconds at the start of the run.
 */
function evidenceOf({ id, request, response }: Attempt, scenario: string, startMs: number): ExchangeLine {
  const us = (ms: number) => Math.round((ms - startMs) * 1_000);
  const begun = response?.beganMs === undefined ? undefined : response;
  return {
    requested: { endpoint: request.endpoint, mode: request.stream ? "streaming" : "non-streaming", intent: scenario },
    exchange: {
      id,
      startedAtMs: request.atWallMs,
      key: "valid",
      request: {
        method: request.method,
        url: `http://${headerOf({ request }, "host") ?? "127.0.0.1"}${request.url}`,
        headers: request.headers,
        ...(request.body === "" ? {} : { body: request.body }),
      },
      timeline: { dueUs: us(request.atMs), sentUs: us(request.atMs), endUs: us(response?.endedMs ?? request.atMs) },
      ending: endingOf(response),
      ...(begun === undefined
        ? {}
        : {
            response: {
              status: begun.status,
              headers: begun.headers,
              trailers: [],
              body: { text: begun.body, bytes: Buffer.byteLength(begun.body), pieces: [] },
            },
          }),
    },
  };
}

function endingOf(response: Attempt["response"]): { readonly kind: string; readonly detail?: string } {
  if (response?.outcome === "broken") return { kind: "reset", detail: "the scenario cuts the stream" };
  if (response === undefined || response.outcome === "interrupted")
    return { kind: "aborted", detail: "the client disconnected" };
  return { kind: "complete" };
}
