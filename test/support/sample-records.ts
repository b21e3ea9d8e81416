import { finding } from "../../src/judging/index.ts";
import type { ComparedMetric, Comparison, RunRecord } from "../../src/record/index.ts";
import { loadClass, loadHeat, loadPhase, loadRun, loadSeries, quantiles, watchedSide } from "./load-records.ts";
import { overheadLevel, overheadOf } from "./overhead-records.ts";
import { broken, met, recordOf, result, value } from "./records.ts";

function compared(name: string, overrides: Partial<ComparedMetric> = {}): ComparedMetric {
  return {
    name,
    unit: "ms",
    worse: "higher",
    a: 182,
    b: 214,
    pairs: 10,
    change: 0.176,
    low: 0.142,
    high: 0.211,
    margin: 0.05,
    p: 0.002,
    pHolm: 0.012,
    detectable: 0.045,
    neededPairs: null,
    verdict: "regressed",
    why: "the whole interval lies beyond the margin",
    ...overrides,
  };
}

const COMPARISON: Comparison = {
  kind: "live",
  a: { name: "main", label: "main", build: "1.4.0" },
  b: { name: "branch", label: "branch", build: "1.5.0-rc1" },
  verdict: "regressed",
  reasons: [{ status: "fail", text: "ttft_ms p95 regressed" }],
  seed: 7,
  order: ["A", "B", "B", "A"],
  control: {
    fit: true,
    message: "A against itself stays within the margins.",
    metrics: [compared("ttft_ms p95", { change: 0.004, low: -0.02, high: 0.026, verdict: "not worse" })],
  },
  metrics: [
    compared("ttft_ms p95"),
    compared("response_ms p50", {
      b: 184,
      change: 0.01,
      low: -0.01,
      high: 0.03,
      pHolm: 0.4,
      verdict: "not worse",
      why: "within the margin",
    }),
    compared("response_ms p99", {
      b: 150,
      change: -0.12,
      low: -0.3,
      high: 0.09,
      margin: 0.1,
      neededPairs: 40,
      verdict: "inconclusive",
      why: "needs about 40 pairs",
    }),
    compared("failed_share", {
      unit: "share",
      a: 0,
      b: 0,
      change: 0,
      low: -0.002,
      high: 0.002,
      margin: 0.01,
      verdict: "not worse",
    }),
  ],
  checks: {
    newlyFailing: [{ id: "auth.revoked[chat]", before: "pass", now: "fail", message: "expected 401, got 403" }],
    fixed: [{ id: "models.list", before: "fail", now: "pass", message: "6 expectations met" }],
    vanished: [{ id: "limits.gone", before: "pass", now: null, message: "" }],
    added: [{ id: "limits.new", before: null, now: "pass", message: "2 expectations met" }],
    worse: [{ id: "compat.names", before: "pass", now: "warn", message: "expected a string, got absent" }],
    lost: [{ id: "auth.away", before: "pass", now: "blocked", message: "key.revoked is missing" }],
    other: [{ id: "auth.back", before: "blocked", now: "pass", message: "2 expectations met" }],
    notCompared: { onlyA: 0, onlyB: 0 },
  },
  drift: [{ kind: "header", where: "chat 200", what: "X-RateLimit-Remaining", before: "present", now: "absent" }],
};

const WAIVED = result("errors.shape[chat]", "fail", {
  waived: { reason: "known since March", owner: "gateway team", expires: "2026-12-01" },
});

const LOAD = {
  runs: [
    loadRun("growth", {
      verdict: "fail",
      reasons: [{ text: "over-rate-limit: 12 % more were admitted than the limit allows", phase: "over-rate-limit" }],
      durationS: 180,
      watched: watchedSide(),
      phases: [
        loadPhase("at-rate-limit", {
          series: loadSeries(0, 60, 16, 17),
          heat: { response: loadHeat(1, 60, 400), ttft: loadHeat(1, 60, 90) },
          classes: [
            loadClass(),
            loadClass({
              stream: false,
              ttftMs: null,
              eventGapMs: null,
              longestStallMs: null,
              responseMs: quantiles(300),
            }),
          ],
          findings: [
            finding({
              name: "no-denial",
              title: "Nothing is denied at the limit",
              requirements: ["LIMIT-1"],
              met: true,
              basis: "timing",
              expected: "0",
              observed: "0",
            }),
          ],
        }),
        loadPhase("over-rate-limit", {
          startS: 60,
          durationS: 60,
          verdict: "fail",
          message: "12 % more were admitted than the limit allows",
          series: loadSeries(60, 60, 26, 19),
          heat: { response: loadHeat(1, 60, 500), ttft: loadHeat(1, 60, 120) },
          denied: 1_500,
          admitted: 3_500,
          denials: [{ reason: "rate_limit_exceeded", dialect: "chat", stream: true, count: 1_500 }],
          failures: [{ what: "500", count: 2, exchange: "x00009" }],
          findings: [
            finding({
              name: "over-admission",
              title: "Not more is admitted than the limit allows",
              requirements: ["LIMIT-2"],
              met: false,
              basis: "timing",
              expected: "at most 1,000 a minute",
              observed: "1,120 a minute",
            }),
            finding({
              name: "window",
              title: "Kind of limiter",
              requirements: [],
              basis: "timing",
              observed: "token bucket, burst 17, 16.7/s",
            }),
          ],
        }),
        loadPhase("recovery", { startS: 120, durationS: 60, series: loadSeries(120, 60, 12, 17) }),
      ],
      retryAfter: {
        ...(loadRun("growth").retryAfter ?? raise()),
        samples: Array.from({ length: 120 }, (_, index) => ({
          phase: "over-rate-limit",
          atS: 60 + index / 2,
          reason: index % 5 === 0 ? "concurrency_limit_exceeded" : "rate_limit_exceeded",
          dialect: "chat" as const,
          stream: true,
          header: String(1 + (index % 4)),
          retryAfterWaitMs: 1_000 * (1 + (index % 4)),
          actualMs: 1_000 * (1 + (index % 4)) + 30 + ((index * 37) % 200) + (index % 31 === 30 ? 2_500 : 0),
          outcome:
            index % 31 === 30
              ? ("insufficient" as const)
              : index % 11 === 10
                ? ("contended" as const)
                : ("sufficient" as const),
        })),
      },
    }),
    loadRun("scale", {
      verdict: "inconclusive",
      reasons: [{ text: "generator: schedule lag p99 80 ms" }],
      generator: { ...loadRun("scale").generator, valid: false, problems: ["schedule lag p99 80 ms is above 10 ms"] },
      retryAfter: null,
    }),
  ],
};

function raise(): never {
  throw new Error("the sample run has figures of Retry-After");
}

const MIXED = [
  result("auth.good[chat]", "pass", { axes: { dialect: "chat", mode: "non-streaming" } }),
  result("auth.bad[chat]", "fail", { axes: { dialect: "chat", mode: "streaming" } }),
  result("auth.shaky", "flaky", {
    rounds: [
      { status: "pass", message: "" },
      { status: "fail", message: "" },
    ],
  }),
  result("auth.away", "blocked"),
  result("limits.unclear", "inconclusive"),
  result("limits.advice", "warn", { findings: [broken({ requirements: ["AUTH-5"], weight: "warn" })] }),
  result("limits.seen", "observed", {
    findings: [met({ name: "BASE-5", requirements: ["BASE-5"], met: undefined, observed: value(405) })],
  }),
  result("limits.none", "not-applicable"),
  result("limits.crash", "harness-error"),
  WAIVED,
];

const POLICY: RunRecord["policy"] = {
  source: "policy.yaml",
  sha256: "2".repeat(64),
  confirmed: true,
  baseline: {
    source: "gauntlet-baseline.json",
    state: "other-machine",
    runId: "abc",
    acceptedAt: "2026-11-01T00:00:00.000Z",
  },
  gates: [
    {
      gate: "ttft_ms{stream=true,tier=growth} p99 < 800",
      kind: "threshold",
      level: "error",
      outcome: "pass",
      message: "180, bound < 800",
      observed: 180,
      bound: 800,
      samples: 5_000,
      labels: { tier: "growth" },
    },
    {
      gate: "denied{phase=at-limit} == 0",
      kind: "threshold",
      level: "error",
      outcome: "fail",
      message: "3, bound == 0; at first 5",
      observed: 3,
      bound: 0,
      samples: 5_000,
      labels: {},
      first: { outcome: "fail", observed: 5 },
    },
    {
      gate: "suite limits judged",
      kind: "suite",
      level: "error",
      outcome: "inconclusive",
      message: "it was not run",
      observed: null,
      bound: null,
      samples: 0,
      labels: {},
    },
    {
      gate: "compat expectations met",
      kind: "compat",
      level: "off",
      outcome: "off",
      message: "switched off",
      observed: null,
      bound: null,
      samples: 4,
      labels: {},
    },
  ],
};

/** A record of every kind that a renderer must handle. */
export const SAMPLES: Readonly<Record<string, RunRecord>> = {
  "all green": recordOf([result("auth.good", "pass"), result("models.good", "pass")]),
  failures: recordOf(MIXED, {
    waivers: [
      {
        check: WAIVED.id,
        reason: "known since March",
        owner: "gateway team",
        expires: "2026-12-01",
        fingerprint: "f",
        magnitudes: { "ERR-1": 1 },
        place: "waivers.yaml:3",
      },
    ],
    leftovers: ["one key used up"],
    rounds: 2,
  }),
  blocked: recordOf([result("auth.away", "blocked"), result("auth.good", "pass")]),
  inconclusive: recordOf([result("limits.unclear", "inconclusive")]),
  interrupted: recordOf([result("auth.good", "pass")], {
    complete: false,
    verdict: {
      result: "inconclusive",
      exitCode: 130,
      headline: "INCONCLUSIVE: staging, interrupted by SIGINT",
      reasons: [],
      qualifiers: [],
    },
  }),
  "interrupted before anything": recordOf([], { complete: false }),
  "load only": recordOf([], { command: "load", load: LOAD }),
  "load that failed": recordOf(MIXED, { command: "load", load: LOAD }),
  overhead: recordOf([], {
    command: "overhead",
    overhead: overheadOf([
      overheadLevel({ concurrency: 1, heldAtPerS: null }),
      overheadLevel({ stream: true, upstreamBound: true }),
      overheadLevel({
        promptBytes: 1_000_000,
        errors: 4_000,
        errorKinds: [{ outcome: "denied", what: "413", count: 4_000 }],
      }),
    ]),
  }),
  compare: recordOf(MIXED.slice(0, 2), { command: "compare", comparison: COMPARISON }),
  everything: recordOf(MIXED, { command: "run", load: LOAD, comparison: COMPARISON, policy: POLICY }),
};
