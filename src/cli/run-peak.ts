import { UsageError } from "../core/index.ts";
import {
  GeneratorHealth,
  judgeTotals,
  modelFor,
  plainRequest,
  promptOf,
  type RanLoad,
  verdictOf,
  type Workload,
} from "../load/index.ts";
import { Histogram } from "../metrics/index.ts";
import type { LoadsContext } from "./run-loads.ts";

/** A closed loop sent by autocannon. Its first class of requests is taken: autocannon sends one kind. */
export async function runPeak(workload: Workload, { target, stop, onPhase }: LoadsContext): Promise<RanLoad> {
  const { arrivals, mix, name } = workload;
  const [first] = mix;
  if (arrivals?.kind !== "closed" || arrivals.durationS === undefined || first === undefined || first.stream) {
    throw new UsageError(`autocannon takes a closed loop of whole replies with durationS; ${name} is something else`, {
      hint: "Leave --engine out: the native engine takes every workload.",
    });
  }
  const { closedLoopPeak } = await import("../engines/index.ts");
  const startedAt = new Date();
  using health = new GeneratorHealth();
  const { dialect, maxTokens, promptTokens } = first;
  const { url, headers, body } = plainRequest(target, {
    dialect,
    stream: false,
    model: first.model ?? modelFor(target, dialect, false),
    prompt: promptOf(promptTokens),
    maxTokens,
    key: target.keys.valid,
  });
  const sent = await closedLoopPeak({
    url,
    headers: Object.fromEntries(headers),
    body,
    dialect,
    connections: arrivals.inFlight,
    durationS: arrivals.durationS,
    name,
    signal: stop,
  });
  const findings = judgeTotals(workload, sent);
  const phase = { ...sent, findings, ...verdictOf(findings) };
  onPhase(name, phase);
  return {
    run: {
      name,
      kind: "workload",
      engine: "autocannon",
      verdict: phase.verdict,
      reasons: phase.verdict === "pass" ? [] : [phase.message],
      limits: null,
      keys: [target.keys.valid.name],
      workload: workload.written,
      startedAt: startedAt.toISOString(),
      durationS: phase.durationS,
      phases: [phase],
      retryAfter: null,
      // A closed loop saturates on purpose: that the loop was busy says nothing against its rate.
      generator: {
        ...health.close(new Histogram(), { connectionWaits: 0, workers: 0, calibration: null }),
        valid: true,
        problems: [],
      },
    },
    histograms: [],
  };
}
