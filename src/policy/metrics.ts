import { LATENCY_FIGURE_NAMES, LATENCY_FIGURES, type LatencyFigure, type LatencyMetric } from "../metrics/index.ts";
import type { LoadPhase, LoadRun } from "../record/index.ts";
import { classLabels, eachPhase, eachRun, phaseLabels, sentBy, sentByKind } from "./load-series.ts";
import type { CountSeries, Ends, Labels, Metric } from "./metric.ts";

const CLASS_LABELS = ["tier", "phase", "dialect", "stream", "outcome"] as const;
const PHASE_LABELS = ["tier", "phase"] as const;
const REASON_LABELS = ["tier", "reason", "dialect", "stream"] as const;

/** Quantiles of one field of every class. Without an `outcome` it means admitted requests: outcomes are never mixed. */
const distribution = (field: `${LatencyFigure}Ms`): Metric => ({
  kind: "distribution",
  labels: CLASS_LABELS,
  read: (record) =>
    eachPhase(record, (run, phase) =>
      phase.classes.map((entry) => ({
        labels: { ...phaseLabels(run, phase), ...classLabels(entry), outcome: entry.outcome },
        samples: entry.count,
        quantiles: entry[field],
        intervals: entry[field]?.intervals,
        valid: run.generator.valid,
      })),
    ),
});

const ofGenerator = (field: "scheduleLagMs" | "loopDelayMs"): Metric => ({
  kind: "distribution",
  labels: ["tier"],
  read: (record) =>
    eachRun(record, (run) => [
      {
        labels: { tier: run.name },
        samples: run.phases.reduce((sum, { sent }) => sum + sent, 0),
        quantiles: run.generator[field],
        // The generator's own figures are true even if it was too slow.
        valid: true,
      },
    ]),
});

const ofPhases = (
  kind: "sum" | "share" | "each",
  read: (phase: LoadPhase) => number,
  interval?: (phase: LoadPhase) => Ends | undefined,
): Metric => ({
  kind,
  labels: PHASE_LABELS,
  read: (record) =>
    eachPhase(record, (run, phase) => [
      {
        labels: phaseLabels(run, phase),
        count: read(phase),
        of: phase.sent,
        interval: interval?.(phase),
        valid: run.generator.valid,
      },
    ]),
});

/** For phases of workloads with objectives. */
const ofGoodput = (
  kind: "share" | "each",
  read: (
    goodput: NonNullable<LoadPhase["goodput"]>,
    phase: LoadPhase,
  ) => Pick<CountSeries, "count" | "of" | "interval">,
): Metric => ({
  kind,
  labels: PHASE_LABELS,
  read: (record) =>
    eachPhase(record, (run, phase) =>
      phase.goodput === undefined
        ? []
        : [{ labels: phaseLabels(run, phase), ...read(phase.goodput, phase), valid: run.generator.valid }],
    ),
});

type Ending = "admitted" | "denied" | "failed" | "invalid";

const share = (name: Ending): Metric =>
  ofPhases(
    "share",
    (phase) => phase[name],
    ({ shares }) => shares?.intervals[name],
  );

const rate = (name: "admitted" | "sent"): Metric =>
  ofPhases(
    "each",
    ({ rates }) => rates[name],
    ({ rates }) => rates.intervals?.[name],
  );

/**
 * Denials by reason, dialect and mode. If requests of a dialect and mode were sent and none was denied, the count is 0; if
 * none were sent, it is missing.
 */
const denied: Metric = {
  kind: "sum",
  labels: [...PHASE_LABELS, "reason", "dialect", "stream"],
  read: (record) =>
    eachPhase(record, (run, phase) => [
      ...sentByKind(phase).map(({ labels, of }) => ({
        labels: { ...phaseLabels(run, phase), ...labels },
        count: 0,
        of,
        valid: run.generator.valid,
      })),
      ...phase.denials.map(({ reason, dialect, stream, count }) => ({
        labels: { ...phaseLabels(run, phase), reason, dialect, stream: String(stream) },
        count,
        of: 0,
        valid: run.generator.valid,
      })),
    ]),
};

/** Mean output tokens of the admitted replies. Non-streaming replies without usage are not counted. */
const tokensPerReply: Metric = {
  kind: "each",
  labels: [...PHASE_LABELS, "dialect", "stream"],
  read: (record) =>
    eachPhase(record, (run, phase) =>
      phase.classes
        .filter(({ outcome, count }) => outcome === "admitted" && count > 0)
        .filter(({ stream, outputTokens }) => stream || outputTokens > 0)
        .map((entry) => ({
          labels: { ...phaseLabels(run, phase), ...classLabels(entry) },
          count: entry.outputTokens / entry.count,
          of: entry.count,
          // The length of replies does not depend on timing.
          valid: true,
        })),
    ),
};

type RetryGroup = NonNullable<LoadRun["retryAfter"]>["groups"][number];

const retryAfter = (count: (group: RetryGroup) => number, of: (group: RetryGroup) => number): Metric => ({
  kind: "share",
  labels: REASON_LABELS,
  read: (record) =>
    eachRun(record, (run) =>
      (run.retryAfter?.groups ?? []).map((group) => ({
        labels: { tier: run.name, reason: group.reason, dialect: group.dialect, stream: String(group.stream) },
        count: count(group),
        of: of(group),
        valid: run.generator.valid,
      })),
    ),
});

const ofClients = (read: (client: NonNullable<LoadRun["retryAfter"]>["client"]) => number): Metric => ({
  kind: "sum",
  labels: ["tier"],
  read: (record) =>
    eachRun(record, (run) =>
      run.retryAfter === null
        ? []
        : [{ labels: { tier: run.name }, count: read(run.retryAfter.client), of: sentBy(run), valid: true }],
    ),
});

/** Latency that a gateway adds to its upstream. A level limited by the upstream says nothing about it. */
const added = (field: "addedMs" | "addedTtftMs" | "addedGapMs"): Metric => ({
  kind: "difference",
  labels: ["gateway", "concurrency", "stream", "prompt_bytes"],
  read: (record) =>
    (record.overhead?.arms ?? []).flatMap(({ name, levels }) =>
      levels.flatMap(({ concurrency, stream, promptBytes, requests, errors, upstreamBound, [field]: quantiles }) => {
        if (quantiles === null || upstreamBound) return [];
        const labels = { gateway: name, concurrency: String(concurrency), stream: String(stream) };
        return [{ labels: { ...labels, prompt_bytes: String(promptBytes) }, samples: requests - errors, quantiles }];
      }),
    ),
});

/** Number of checks with a status, among those that the other labels select. */
const checks: Metric = {
  kind: "sum",
  labels: ["suite", "layer", "check", "status"],
  read: (record) =>
    record.checks.map(({ suite, layer, check, status }) => ({
      labels: { suite, layer, check, status },
      count: 1,
      of: 1,
      valid: true,
    })),
};

const DISTRIBUTIONS = Object.fromEntries(
  LATENCY_FIGURE_NAMES.map((name) => [LATENCY_FIGURES[name].metric, distribution(`${name}Ms`)]),
) as Record<LatencyMetric, Metric>;

const METRICS = {
  ...DISTRIBUTIONS,
  schedule_lag_ms: ofGenerator("scheduleLagMs"),
  loop_delay_ms: ofGenerator("loopDelayMs"),
  offered: ofPhases("sum", ({ offered }) => offered),
  sent: ofPhases("sum", ({ sent }) => sent),
  admitted: ofPhases("sum", ({ admitted }) => admitted),
  denied,
  failed: ofPhases("sum", ({ failed }) => failed),
  invalid: ofPhases("sum", ({ invalid }) => invalid),
  dropped: ofPhases("sum", ({ dropped }) => dropped),
  admitted_share: share("admitted"),
  denied_share: share("denied"),
  failed_share: share("failed"),
  invalid_share: share("invalid"),
  admitted_per_s: rate("admitted"),
  sent_per_s: rate("sent"),
  goodput_share: ofGoodput("share", ({ requests: count, intervals }, { offered: of }) => ({
    ...{ count, of, interval: intervals.share },
  })),
  goodput_per_s: ofGoodput("each", ({ requestsPerS: count, intervals }, { sent: of }) => ({
    ...{ count, of, interval: intervals.requestsPerS },
  })),
  tokens_per_reply: tokensPerReply,
  peak_in_flight: ofPhases("each", ({ peakInFlight }) => peakInFlight),
  retry_after_present: retryAfter(
    ({ present }) => present,
    ({ denials }) => denials,
  ),
  retry_after_usable: retryAfter(
    ({ usable }) => usable,
    ({ denials }) => denials,
  ),
  retry_after_sufficient: retryAfter(
    ({ sufficient }) => sufficient,
    ({ sufficient, insufficient }) => sufficient + insufficient,
  ),
  "overhead.added_ms": added("addedMs"),
  "overhead.added_ttft_ms": added("addedTtftMs"),
  "overhead.added_gap_ms": added("addedGapMs"),
  early_sends: ofClients(({ earlySends }) => earlySends),
  forbidden_retries: ofClients(({ forbiddenRetries }) => forbiddenRetries),
  checks,
} as const satisfies Record<string, Metric>;

export type MetricName = keyof typeof METRICS;
export const METRIC_NAMES = Object.keys(METRICS) as readonly MetricName[];

export function isMetricName(name: string): name is MetricName {
  return Object.hasOwn(METRICS, name);
}

export function metricOf(name: MetricName): Metric {
  return METRICS[name];
}

/** Whether a metric comes from load, so that it can be measured again. */
export function isPerformance(name: MetricName): boolean {
  return name !== "checks" && !name.startsWith("overhead.");
}

const PHASE_ALIASES: Readonly<Record<string, string>> = {
  "at-limit": "at-rate-limit",
  "over-limit": "over-rate-limit",
};

/** Whether a metric is a share of a total. */
export const isShare = (name: MetricName): boolean => metricOf(name).kind === "share";

/** Whether the labels of a threshold select a series. */
export function matches(requested: Labels, series: Labels): boolean {
  return Object.entries(requested).every(([label, value]) => {
    const given = series[label];
    return given === value || (label === "phase" && given === PHASE_ALIASES[value]);
  });
}
