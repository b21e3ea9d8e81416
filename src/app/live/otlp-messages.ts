import type { RequestSpan } from "../../load/index.ts";
import type { Histogram } from "../../metrics/index.ts";
import type { WatchedPhase } from "./live-feed.ts";
import { ProtobufMessage } from "./protobuf.ts";

type Attributes = Readonly<Record<string, string | number | boolean>>;

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
  ["gen_ai.client.operation.duration", "service", GEN_AI_BOUNDS, "From the send to the end."],
  ["gen_ai.client.operation.time_to_first_chunk", "firstEvent", GEN_AI_BOUNDS, "From the send to the first event."],
  [
    "gen_ai.server.time_to_first_token",
    "ttft",
    FIRST_TOKEN_BOUNDS,
    "From the send to the first content token, as the client sees it.",
  ],
  ["http.client.request.duration", "service", HTTP_BOUNDS, "From the send to the end."],
] as const;

const CUMULATIVE = 2;
const CLIENT_SPAN = 3;
const STATUS_ERROR = 2;

/**
 * The counters of a run as an OTLP `ExportMetricsServiceRequest`, cumulative since the start of each phase.
 * @see https://github.com/open-telemetry/opentelemetry-proto/blob/main/opentelemetry/proto/metrics/v1/metrics.proto
 * @see https://opentelemetry.io/docs/specs/semconv/gen-ai/gen-ai-metrics/
 */
export function metricsRequest(source: OtlpSource, phases: readonly WatchedPhase[], nowMs: number): Buffer {
  const server = serverOf(source);
  const at = ({ beganMs }: WatchedPhase) => ({ beganMs, nowMs });
  const requests = phases.flatMap((phase) =>
    Object.entries(phase.running.tally.total).map(([outcome, count]) =>
      numberPoint({ ...placeOf(phase), "gauntlet.outcome": outcome }, count, at(phase)),
    ),
  );
  const active = phases.map((phase) =>
    numberPoint(
      { ...server, ...placeOf(phase) },
      phase.ended === undefined ? phase.running.sender.inFlight : 0,
      at(phase),
    ),
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
    const isHttp = name.startsWith("http.");
    const points = classes.flatMap(({ one, phase, attributes }) => {
      const histogram = one.figures.get(figure);
      const method = isHttp ? { "http.request.method": "POST" } : {};
      return histogram === undefined
        ? []
        : [histogramPoint({ ...attributes, ...method }, histogram, boundsS, at(phase))];
    });
    return metric({ name, unit: "s", description }).messages(9, cumulative(points));
  });
  const tokens = classes
    .filter(({ one }) => one.outputTokens > 0)
    .map(({ one, phase, attributes }) =>
      times(at(phase))
        .fixed64(4, BigInt(one.count))
        .double(5, one.outputTokens)
        .messages(9, ...keyValues({ ...attributes, "gen_ai.token.type": "output" })),
    );
  return request(source, [
    metric({ name: "gauntlet.requests", unit: "{request}", description: "Requests by outcome." }).messages(
      7,
      cumulative(requests).varint(3, 1),
    ),
    metric({ name: "http.client.active_requests", unit: "{request}", description: "Requests in flight." }).messages(
      7,
      cumulative(active),
    ),
    ...durations,
    metric({ name: "gen_ai.client.token.usage", unit: "{token}", description: "Output tokens of streams." }).messages(
      9,
      cumulative(tokens),
    ),
  ]);
}

/**
 * Spans as an OTLP `ExportTraceServiceRequest`.
 * @see https://github.com/open-telemetry/opentelemetry-proto/blob/main/opentelemetry/proto/trace/v1/trace.proto
 * @see https://opentelemetry.io/docs/specs/semconv/gen-ai/gen-ai-spans/
 */
export function tracesRequest(source: OtlpSource, spans: readonly RequestSpan[]): Buffer {
  const server = serverOf(source);
  return request(
    source,
    spans.map((span) => {
      const { traceId, spanId, model, sentMs, firstTokenMs, endMs, outcome, what, status, stream } = span;
      const isGood = outcome === "admitted";
      const message = new ProtobufMessage()
        .bytes(1, Buffer.from(traceId, "hex"))
        .bytes(2, Buffer.from(spanId, "hex"))
        .text(5, `chat ${model}`)
        .varint(6, CLIENT_SPAN)
        .fixed64(7, nanos(sentMs))
        .fixed64(8, nanos(endMs))
        .messages(
          9,
          ...keyValues({
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
          }),
        );
      if (firstTokenMs !== undefined)
        message.messages(11, new ProtobufMessage().fixed64(1, nanos(firstTokenMs)).text(2, "first token"));
      if (!isGood) message.messages(15, new ProtobufMessage().text(2, `${outcome}: ${what}`).varint(3, STATUS_ERROR));
      return message;
    }),
  );
}

/** The envelope that both requests share: resource, scope, and content. */
function request({ target, version }: OtlpSource, content: readonly ProtobufMessage[]): Buffer {
  const resource = new ProtobufMessage().messages(
    1,
    ...keyValues({ "service.name": "gauntlet", "service.version": version, "gauntlet.target": target }),
  );
  const scope = new ProtobufMessage().text(1, "gauntlet").text(2, version);
  const scoped = new ProtobufMessage().messages(1, scope).messages(2, ...content);
  return new ProtobufMessage().messages(1, new ProtobufMessage().messages(1, resource).messages(2, scoped)).encode();
}

interface Times {
  readonly beganMs: number;
  readonly nowMs: number;
}

const nanos = (ms: number): bigint => BigInt(Math.round(ms * 1_000)) * 1_000n;

const times = ({ beganMs, nowMs }: Times) => new ProtobufMessage().fixed64(2, nanos(beganMs)).fixed64(3, nanos(nowMs));

function numberPoint(attributes: Attributes, value: number, at: Times): ProtobufMessage {
  return times(at)
    .fixed64(6, BigInt(value))
    .messages(7, ...keyValues(attributes));
}

function histogramPoint(
  attributes: Attributes,
  histogram: Histogram,
  boundsS: readonly number[],
  at: Times,
): ProtobufMessage {
  const upTo = [...histogram.countsUpTo(boundsS.map((boundS) => boundS * 1_000_000)), histogram.count];
  return times(at)
    .fixed64(4, BigInt(histogram.count))
    .double(5, histogram.sumUs / 1_000_000)
    .packedFixed64(
      6,
      upTo.map((count, index) => count - (upTo[index - 1] ?? 0)),
    )
    .packedDoubles(7, boundsS)
    .messages(9, ...keyValues(attributes));
}

function metric({ name, unit, description }: { name: string; unit: string; description: string }): ProtobufMessage {
  return new ProtobufMessage().text(1, name).text(2, description).text(3, unit);
}

const cumulative = (points: readonly ProtobufMessage[]) =>
  new ProtobufMessage().messages(1, ...points).varint(2, CUMULATIVE);

function keyValues(attributes: Attributes): ProtobufMessage[] {
  return Object.entries(attributes).map(([key, value]) => {
    const any = new ProtobufMessage();
    if (typeof value === "string") any.text(1, value);
    else if (typeof value === "boolean") any.varint(2, Number(value));
    else any.varint(3, value);
    return new ProtobufMessage().text(1, key).messages(2, any);
  });
}

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
