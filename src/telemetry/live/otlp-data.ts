import { type Attributes, SpanKind, SpanStatusCode, TraceFlags, ValueType } from "@opentelemetry/api";
import { millisToHrTime } from "@opentelemetry/core";
import { resourceFromAttributes } from "@opentelemetry/resources";
import {
  AggregationTemporality,
  type DataPoint,
  DataPointType,
  type HistogramMetricData,
  type ResourceMetrics,
  type SumMetricData,
} from "@opentelemetry/sdk-metrics";
import type { ReadableSpan } from "@opentelemetry/sdk-trace-base";
import type { RequestSpan } from "../../load/index.ts";
import type { Histogram } from "../../metrics/index.ts";
import type { WatchedPhase } from "./live-feed.ts";

/** The exporting program, and the server under load. */
export interface OtlpSource {
  /** Name of the target. */
  readonly target: string;
  readonly baseUrl: string;
  /** Version of Gauntlet. */
  readonly version: string;
}

/** Bucket bounds recommended by the semantic conventions, seconds. */
const GEN_AI_BOUNDS = [0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92];
const FIRST_TOKEN_BOUNDS = [0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10];
const HTTP_BOUNDS = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10];

/** Name, class field, bounds, description. */
const DURATIONS = [
  [
    "gen_ai.client.operation.duration",
    "service",
    GEN_AI_BOUNDS,
    "From sending the request to the end of the response.",
  ],
  [
    "gen_ai.client.operation.time_to_first_chunk",
    "firstEvent",
    GEN_AI_BOUNDS,
    "From sending the request to the first event.",
  ],
  [
    "gen_ai.server.time_to_first_token",
    "ttft",
    FIRST_TOKEN_BOUNDS,
    "From sending the request to its first output of any kind, as the client sees it.",
  ],
  ["http.client.request.duration", "service", HTTP_BOUNDS, "From sending the request to the end of the response."],
] as const;

/** The value of a histogram's data point. */
type Buckets = HistogramMetricData["dataPoints"][number]["value"];

/**
 * The counters of a run as the OpenTelemetry SDK's exporters take them, cumulative since the start of each phase. The SDK's
 * instruments are not used: the senders already count, and do not record each request twice.
 * @see https://opentelemetry.io/docs/specs/semconv/gen-ai/gen-ai-metrics/
 */
export function metricsOf(source: OtlpSource, phases: readonly WatchedPhase[], nowMs: number): ResourceMetrics {
  const server = serverOf(source);
  const endTime = millisToHrTime(nowMs);
  const pointOf = <T>({ beganMs }: WatchedPhase, attributes: Attributes, value: T): DataPoint<T> => ({
    startTime: millisToHrTime(beganMs),
    endTime,
    attributes,
    value,
  });
  const requests = phases.flatMap((phase) =>
    Object.entries(phase.running.tally.total).map(([outcome, count]) =>
      pointOf(phase, { ...placeOf(phase), "gauntlet.outcome": outcome }, count),
    ),
  );
  const active = phases.map((phase) =>
    pointOf(phase, { ...server, ...placeOf(phase) }, phase.ended === undefined ? phase.running.sender.inFlight : 0),
  );
  const classes = phases.flatMap((phase) =>
    [...phase.running.tally.classes].map((one) => ({
      one,
      phase,
      attributes: {
        ...server,
        ...placeOf(phase),
        ...genAi(one.dialect),
        "gauntlet.stream": one.stream,
        ...(one.outcome === "admitted" ? {} : { "error.type": one.outcome }),
      },
    })),
  );
  const durations = DURATIONS.map(([name, figure, boundsS, description]) => {
    const method = name.startsWith("http.") ? { "http.request.method": "POST" } : {};
    const points = classes.flatMap(({ one, phase, attributes }) => {
      const histogram = one.figures.get(figure);
      return histogram === undefined
        ? []
        : [pointOf(phase, { ...attributes, ...method }, bucketsOf(histogram, boundsS))];
    });
    return histogramMetric({ name, unit: "s", description }, points);
  });
  const tokens = classes
    .filter(({ one }) => one.outputTokens > 0)
    .map(({ one, phase, attributes }) =>
      pointOf(phase, { ...attributes, "gen_ai.token.type": "output" }, withoutBuckets(one.count, one.outputTokens)),
    );
  const metrics = [
    sumMetric({ name: "gauntlet.requests", unit: "{request}", description: "Requests by outcome." }, true, requests),
    sumMetric(
      { name: "http.client.active_requests", unit: "{request}", description: "Requests in flight." },
      false,
      active,
    ),
    ...durations,
    histogramMetric(
      { name: "gen_ai.client.token.usage", unit: "{token}", description: "Output tokens of streams." },
      tokens,
    ),
  ];
  return { resource: resourceOf(source), scopeMetrics: [{ scope: scopeOf(source), metrics }] };
}

/**
 * Spans as the OpenTelemetry SDK's exporters take them.
 * @see https://opentelemetry.io/docs/specs/semconv/gen-ai/gen-ai-spans/
 */
export function spansOf(source: OtlpSource, spans: readonly RequestSpan[]): ReadableSpan[] {
  const server = serverOf(source);
  const resource = resourceOf(source);
  const instrumentationScope = scopeOf(source);
  return spans.map((span) => {
    const { traceId, spanId, model, sentMs, firstTokenMs, endMs, outcome, what, status, stream } = span;
    const isGood = outcome === "admitted";
    return {
      name: `chat ${model}`,
      kind: SpanKind.CLIENT,
      spanContext: () => ({ traceId, spanId, traceFlags: TraceFlags.SAMPLED }),
      startTime: millisToHrTime(sentMs),
      endTime: millisToHrTime(endMs),
      duration: millisToHrTime(endMs - sentMs),
      ended: true,
      attributes: {
        ...server,
        ...genAi(span.dialect),
        "gen_ai.request.model": model,
        "gen_ai.request.stream": stream,
        "http.request.method": "POST",
        ...(status === 0 ? {} : { "http.response.status_code": status }),
        ...(stream && isGood ? { "gen_ai.usage.output_tokens": span.outputTokens } : {}),
        ...(isGood ? {} : { "error.type": what === "" ? outcome : what }),
        "gauntlet.run": span.run,
        "gauntlet.phase": span.phase,
      },
      events: firstTokenMs === undefined ? [] : [{ name: "first token", time: millisToHrTime(firstTokenMs) }],
      status: isGood ? { code: SpanStatusCode.UNSET } : { code: SpanStatusCode.ERROR, message: `${outcome}: ${what}` },
      links: [],
      resource,
      instrumentationScope,
      droppedAttributesCount: 0,
      droppedEventsCount: 0,
      droppedLinksCount: 0,
    };
  });
}

type Described = Readonly<Record<"name" | "unit" | "description", string>>;

const sumMetric = (described: Described, isMonotonic: boolean, dataPoints: DataPoint<number>[]): SumMetricData => ({
  descriptor: { ...described, valueType: ValueType.INT },
  dataPointType: DataPointType.SUM,
  aggregationTemporality: AggregationTemporality.CUMULATIVE,
  isMonotonic,
  dataPoints,
});

const histogramMetric = (described: Described, dataPoints: DataPoint<Buckets>[]): HistogramMetricData => ({
  descriptor: { ...described, valueType: ValueType.DOUBLE },
  dataPointType: DataPointType.HISTOGRAM,
  aggregationTemporality: AggregationTemporality.CUMULATIVE,
  dataPoints,
});

const withoutBuckets = (count: number, sum: number): Buckets => ({
  count,
  sum,
  buckets: { boundaries: [], counts: [] },
});

function bucketsOf(histogram: Histogram, boundsS: readonly number[]): Buckets {
  const { count, sumUs } = histogram;
  const upTo = [...histogram.countsUpTo(boundsS.map((boundS) => boundS * 1_000_000)), count];
  const counts = upTo.map((upToBound, index) => upToBound - (upTo[index - 1] ?? 0));
  return { count, sum: sumUs / 1_000_000, buckets: { boundaries: [...boundsS], counts } };
}

const resourceOf = ({ target, version }: OtlpSource) =>
  resourceFromAttributes({ "service.name": "gauntlet", "service.version": version, "gauntlet.target": target });

const scopeOf = ({ version }: OtlpSource) => ({ name: "gauntlet", version });

function placeOf({ running: { run, name } }: WatchedPhase): Attributes {
  return { "gauntlet.run": run, "gauntlet.phase": name };
}

/** The conventions call the API flavor a provider, whoever operates the endpoint. */
function genAi(dialect: RequestSpan["dialect"]): Attributes {
  return { "gen_ai.operation.name": "chat", "gen_ai.provider.name": dialect === "chat" ? "openai" : "anthropic" };
}

function serverOf({ baseUrl }: OtlpSource): Attributes {
  const { hostname, port, protocol } = new URL(baseUrl);
  return { "server.address": hostname, "server.port": Number(port) || (protocol === "https:" ? 443 : 80) };
}
