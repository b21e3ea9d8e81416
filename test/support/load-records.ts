import type { JudgedPhase, JudgedRun, LoadClass, LoadHeat, LoadSecond, Quantiles } from "../../src/record/index.ts";

export function quantiles(p50: number): Quantiles {
  return { p50, p90: p50 * 1.5, p95: p50 * 1.7, p99: p50 * 2, p999: p50 * 3, max: p50 * 4 };
}

export function loadClass(overrides: Partial<LoadClass> = {}): LoadClass {
  return {
    dialect: "chat",
    stream: true,
    outcome: "admitted",
    count: 5_000,
    responseMs: quantiles(420),
    serviceMs: quantiles(400),
    ttftMs: quantiles(90),
    textTtftMs: null,
    eventGapMs: quantiles(20),
    itlMs: null,
    connectMs: quantiles(1),
    headersMs: quantiles(60),
    firstByteMs: quantiles(80),
    firstEventMs: quantiles(82),
    longestStallMs: quantiles(45),
    perTokenMs: quantiles(21),
    eventsPerRead: 1.2,
    outputTokens: 90_000,
    ...overrides,
  };
}

export function loadPhase(name: string, overrides: Partial<JudgedPhase> = {}): JudgedPhase {
  return {
    name,
    title: `Phase ${name}`,
    verdict: "pass",
    message: "everything as it should be",
    startS: 0,
    durationS: 60,
    offered: 5_000,
    sent: 5_000,
    admitted: 5_000,
    denied: 0,
    failed: 0,
    invalid: 0,
    invalidReplies: [],
    unknownFields: [],
    dropped: 0,
    rates: { offered: 16.7, sent: 16.7, admitted: 16.7, denied: 0, failed: 0, invalid: 0 },
    peakInFlight: 40,
    connections: 40,
    classes: [loadClass()],
    series: [],
    denials: [],
    failures: [],
    findings: [],
    invariants: [],
    sampled: 200,
    ...overrides,
  };
}

export function loadRun(name: string, overrides: Partial<JudgedRun> = {}): JudgedRun {
  return {
    name,
    kind: "tier",
    engine: "native",
    verdict: "pass",
    reasons: [],
    limits: { rpm: 1_000, inFlight: 200 },
    keys: ["tiers.growth.key"],
    workload: { shape: "mixed" },
    startedAt: "2026-11-21T12:00:00.000Z",
    durationS: 180,
    phases: [
      loadPhase("at-rate-limit"),
      loadPhase("over-rate-limit", {
        startS: 60,
        denied: 1_500,
        admitted: 3_500,
        denials: [
          { reason: "rate_limit_exceeded", dialect: "chat", stream: true, count: 1_400 },
          { reason: "concurrency_limit_exceeded", dialect: "chat", stream: true, count: 100 },
        ],
      }),
    ],
    retryAfter: {
      clients: "compliant",
      groups: [
        {
          reason: "rate_limit_exceeded",
          dialect: "chat",
          stream: true,
          denials: 1_400,
          present: 1_400,
          usable: 1_399,
          sufficient: 198,
          insufficient: 2,
          contended: 10,
          earlyProbes: 20,
          earlyAdmitted: 1,
          retryAfterWaitMs: quantiles(2_000),
          actualMs: quantiles(2_050),
        },
      ],
      tested: 100,
      sufficient: 99,
      sufficientShare: 0.99,
      samples: [],
      client: { earlySends: 0, forbiddenRetries: 0, retries: 200, aborted: 0, uncertain: 0 },
      fleet: null,
    },
    generator: {
      valid: true,
      problems: [],
      scheduleLagMs: quantiles(0.6),
      loopDelayMs: quantiles(1),
      cpuS: 40,
      cpuShare: 0.3,
      peakRssBytes: 200e6,
      connectionWaits: 0,
      workers: 1,
      calibration: null,
    },
    ...overrides,
  };
}

/** Heat of requests that take about `usualMs`, with a slower kind in addition from the middle on. */
export function loadHeat(everyS: number, columns: number, usualMs: number): LoadHeat {
  const rowOf = (ms: number) => Math.floor(Math.log10(ms * 1_000) * 10);
  return {
    everyS,
    columns: Array.from({ length: columns }, (_, index) => {
      const usual = rowOf(usualMs * (1 + 0.4 * Math.sin(index / 6)));
      const cells = [-1, 0, 1, 2, 3].map((step) => [usual + step, [60, 900, 300, 40, 2][step + 1] ?? 0] as const);
      const slower = index * 2 < columns ? [] : [[rowOf(usualMs * 8), 12] as const];
      return [...cells, ...slower].map(([requirement, count]) => `${requirement}:${count}`).join(" ");
    }),
  };
}

/** Heat that fills each column of the four decades differently: the largest possible drawing. */
export function scatteredHeat(everyS: number, columns: number): LoadHeat {
  return {
    everyS,
    columns: Array.from({ length: columns }, (_, column) =>
      Array.from(
        { length: 40 },
        (__, requirement) => `${20 + requirement}:${1 + ((column * 7 + requirement * 13) % 997)}`,
      ).join(" "),
    ),
  };
}

/** A minute of seconds, as a gateway with a limit would produce them. */
export function loadSeries(fromS: number, count: number, offered: number, limit: number): LoadSecond[] {
  return Array.from({ length: count }, (_, index) => {
    // A repeatable ripple, so that the lines in drawings are not straight.
    const ripple = Math.round(Math.sin((fromS + index) / 3) * offered * 0.08);
    const sent = offered + ripple;
    const admitted = Math.min(sent, limit);
    const slow = 380 + 60 * Math.sin((fromS + index) / 7) + (index === 40 ? 900 : 0);
    return {
      atS: fromS + index,
      offered: sent,
      sent,
      admitted,
      denied: sent - admitted,
      failed: index % 29 === 28 ? 1 : 0,
      invalid: 0,
      dropped: 0,
      inFlight: Math.round(admitted * 0.5),
      responseByModeMs: {
        streaming: { p50: slow, p95: slow * 1.6, p99: slow * 2.2 },
        nonStreaming: { p50: slow / 2, p95: slow * 0.8, p99: slow * 1.1 },
      },
      ttftMs: { p50: slow / 4, p95: slow / 3, p99: slow / 2 },
    };
  });
}

/** A minute of the target's metrics: processes of a unit, and two series. */
export function watchedSide(): NonNullable<JudgedRun["watched"]> {
  const atS = Array.from({ length: 63 }, (_, second) => second);
  const grown = (second: number) => 200e6 + Math.min(second, 60) * 1e6;
  const leak = (resource: string) => ({
    ...{
      resource,
      unit: "bytes" as const,
      verdict: "growth" as const,
      message: "was still rising when the load ended",
    },
    ...{ first: 200e6, peak: 260e6, last: 260e6, perMinute: { value: 60e6, low: 59e6, high: 61e6 } },
  });
  return {
    processes: {
      pid: 4_711,
      unit: { name: "gateway.service", cgroup: "/sys/fs/cgroup/system.slice/gateway.service" },
      samples: atS.map((second) => ({
        ...{ atS: second, cpuShare: second === 0 ? null : 0.4, memoryBytes: grown(second) },
        ...{ openFiles: null, threads: 11 },
      })),
      leaks: [leak("memory")],
    },
    metrics: {
      ...{ url: "http://127.0.0.1:9090/metrics", everyS: 1, atS, scrapes: 64, failed: 1 },
      series: [
        { name: "process_resident_memory_bytes", labels: {}, kind: "gauge", values: atS.map(grown) },
        {
          name: "http_requests_total",
          labels: { code: "200", method: "POST", path: "/v1/chat/completions", region: "eu-west-1" },
          kind: "counter",
          values: atS.map((second) => (second === 0 ? null : second < 60 ? 16 + (second % 3) : 0)),
          restarts: 1,
        },
      ],
      leaks: [leak("process_resident_memory_bytes")],
      dropped: [{ name: "http_requests_total", series: 12 }],
      firstFailure: { atS: 31, message: "responded with 503" },
    },
  };
}
