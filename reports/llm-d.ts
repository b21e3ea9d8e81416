import { Histogram, type LatencyFigure } from "../src/metrics/index.ts";
import type { LoadPhase, LoadRun } from "../src/record/index.ts";
import type { ReportSource } from "./evidence/source.ts";
import { classHistogram, phaseTag } from "./figures/class-histogram.ts";

/** Statistics of the format, in the order of its schema. */
const SHARES = {
  p0p1: 0.001,
  p1: 0.01,
  p5: 0.05,
  p10: 0.1,
  p25: 0.25,
  p50: 0.5,
  p75: 0.75,
  p90: 0.9,
  p95: 0.95,
  p99: 0.99,
  p99p9: 0.999,
} as const;

/** Latency of the format, our figure, unit. */
const LATENCIES = [
  ["time_to_first_token", "ttft", "s"],
  ["inter_token_latency", "itl", "s/token"],
  ["time_per_output_token", "perToken", "s/token"],
  ["request_latency", "service", "s"],
] as const satisfies readonly (readonly [string, LatencyFigure, string])[];

/**
 * The phases of a load run as Benchmark Reports of llm-d, version 0.2: one document per phase, since a document describes one
 * stage. Latencies are those of admitted requests; they are omitted if the histogram log is missing. The reports have no verdict,
 * so `run.description` states it.
 *
 * @returns the documents by file name; none if the run has no load.
 * @see https://github.com/llm-d/llm-d-benchmark/blob/main/docs/benchmark_report.md
 */
export function renderLlmD(source: ReportSource): ReadonlyMap<string, string> {
  const stages = (source.record.load?.runs ?? []).flatMap((run) => run.phases.map((phase) => ({ run, phase })));
  return new Map(
    stages.map(({ run, phase }, stage) => [
      // The name comes from a record that another program may have written.
      `llm-d/${stage + 1}-${phaseTag(run, phase)
        .replaceAll(/[^\w.-]/g, "-")
        .slice(0, 80)}.json`,
      `${JSON.stringify(documentOf(source, run, phase), undefined, 2)}\n`,
    ]),
  );
}

function documentOf(source: ReportSource, run: LoadRun, phase: LoadPhase): object {
  const { record } = source;
  const { target, harness, configuration, verdict } = record;
  const startMs = Date.parse(run.startedAt) + phase.startS * 1_000;
  return {
    version: "0.2",
    run: {
      uid: `${record.runId}-${phaseTag(run, phase)}`,
      eid: record.runId,
      time: {
        start: new Date(startMs).toISOString(),
        end: new Date(startMs + phase.durationS * 1_000).toISOString(),
        duration: `PT${Number(phase.durationS.toFixed(3))}S`,
      },
      description: `${phase.title}. ${verdict.headline}${run.generator.valid ? "" : `. The load generator was not on time: ${run.generator.problems.join("; ")}`}`,
      keywords: [harness.name, run.engine, run.name, verdict.result],
    },
    scenario: {
      stack: [
        {
          metadata: {
            schema_version: "0.0.1",
            label: target.name,
            cfg_id: configuration.sha256,
            description: `Model gateway at ${target.baseUrl}`,
          },
          standardized: {
            kind: "generic",
            tool: target.build ?? target.name,
            tool_version: target.build ?? "unknown",
          },
          native: {},
        },
      ],
    },
    results: { request_performance: { aggregate: aggregateOf(source, run, phase), time_series: seriesOf(run, phase) } },
  };
}

function aggregateOf(source: ReportSource, run: LoadRun, phase: LoadPhase): object {
  const { sent, admitted, dropped, durationS, classes } = phase;
  const served = classes.filter(({ outcome }) => outcome === "admitted");
  const outputTokens = served.reduce((sum, entry) => sum + entry.outputTokens, 0);
  const latencies = LATENCIES.flatMap(([name, figure, units]) => {
    const merged = new Histogram();
    for (const entry of served) {
      const histogram = classHistogram(source, { run, phase, entry, figure });
      if (histogram !== undefined) merged.merge(histogram);
    }
    return merged.count === 0 ? [] : [[name, statistics(merged, units)]];
  });
  return {
    // Denied requests count as failures: the format has no other place for a request without a reply.
    requests: {
      total: sent,
      failures: sent - admitted,
      incomplete: dropped,
      ...(admitted > 0 && { output_length: { units: "count", mean: outputTokens / admitted } }),
    },
    latency: Object.fromEntries(latencies),
    throughput: {
      output_token_rate: { units: "tokens/s", mean: outputTokens / durationS },
      request_rate: { units: "queries/s", mean: admitted / durationS },
    },
  };
}

/** Of a histogram in microseconds, in seconds. */
function statistics(histogram: Histogram, units: string): object {
  const seconds = (us: number) => us / 1_000_000;
  const shares = Object.entries(SHARES).map(([name, share]) => [
    name,
    seconds(Math.min(histogram.quantileUs(share), histogram.maxUs)),
  ]);
  return {
    units,
    mean: seconds(histogram.sumUs / histogram.count),
    stddev: seconds(histogram.hdr.stdDeviation),
    min: seconds(histogram.quantileUs(0)),
    ...Object.fromEntries(shares),
    max: seconds(histogram.maxUs),
  };
}

function seriesOf(run: LoadRun, { series }: LoadPhase): object {
  const startMs = Date.parse(run.startedAt);
  const points = (read: (second: LoadPhase["series"][number]) => object | null) =>
    series.flatMap((second) => {
      const point = read(second);
      return point === null ? [] : [{ ts: new Date(startMs + second.atS * 1_000).toISOString(), ...point }];
    });
  return {
    throughput: { request_rate: { units: "queries/s", series: points(({ admitted }) => ({ value: admitted })) } },
    latency: { time_to_first_token: { units: "ms", series: points(({ ttftMs }) => ttftMs) } },
  };
}
