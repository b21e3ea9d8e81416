import { createServer, type IncomingMessage } from "node:http";
import { createRequire } from "node:module";
import { listening } from "./listening.ts";

/** The messages of OTLP as the OpenTelemetry project generates them from its own definitions. */
const { opentelemetry } = createRequire(import.meta.url)("@opentelemetry/otlp-transformer/build/src/generated/root.js");
const { collector } = opentelemetry.proto;

export interface KeyValue {
  readonly key: string;
  readonly value: Readonly<Record<string, unknown>>;
}

interface Point {
  readonly attributes: readonly KeyValue[];
  readonly asInt: number;
  readonly count: number;
  readonly bucketCounts: readonly number[];
  readonly explicitBounds: readonly number[];
}

export interface Metric {
  readonly name: string;
  readonly sum?: { readonly dataPoints: readonly Point[] };
  readonly histogram?: { readonly aggregationTemporality: number; readonly dataPoints: readonly Point[] };
}

export const valuesOf = (attributes: readonly KeyValue[]) =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

/** Decodes strictly; what is not of the message is an error. */
function decoded(type: { decode: (bytes: Buffer) => object; toObject: (message: object, how: object) => object }) {
  return (body: Buffer) =>
    JSON.parse(JSON.stringify(type.toObject(type.decode(body), { longs: Number, bytes: String })));
}

/** The metrics of an export, by name, and the attributes of its resource. */
export function metricsOf(body: Buffer): {
  readonly metrics: ReadonlyMap<string, Metric>;
  readonly resource: Readonly<Record<string, unknown>>;
} {
  const [{ resource, scopeMetrics }] = decoded(collector.metrics.v1.ExportMetricsServiceRequest)(body).resourceMetrics;
  return {
    metrics: new Map(scopeMetrics[0].metrics.map((metric: Metric) => [metric.name, metric])),
    resource: valuesOf(resource.attributes),
  };
}

export interface Span {
  readonly name: string;
  readonly kind: number;
  readonly startTimeUnixNano: number;
  readonly endTimeUnixNano: number;
  readonly attributes: readonly KeyValue[];
  readonly status?: { readonly code?: number };
  /** As a request carried it. */
  readonly traceparent: string;
}

/** The spans of all exports. */
export function spansOf(traces: readonly Buffer[]): Span[] {
  const hex = (base64: string) => Buffer.from(base64, "base64").toString("hex");
  return traces
    .map(decoded(collector.trace.v1.ExportTraceServiceRequest))
    .flatMap(({ resourceSpans }) => resourceSpans[0].scopeSpans[0].spans)
    .map((span) => ({ ...span, traceparent: `00-${hex(span.traceId)}-${hex(span.spanId)}-01` }));
}

/** A collector that keeps what it was sent, or refuses it. */
export async function startCollector(status = 200) {
  const metrics: Buffer[] = [];
  const traces: Buffer[] = [];
  const types = new Set<string | undefined>();
  const server = createServer(async (request, response) => {
    const body = await bodyOf(request);
    types.add(request.headers["content-type"]);
    (request.url === "/v1/metrics" ? metrics : request.url === "/v1/traces" ? traces : []).push(body);
    response.writeHead(status).end();
  });
  return { ...(await listening(server, () => server.closeAllConnections())), metrics, traces, types };
}

/** Streams two tokens, denies every tenth request, and notes whose span each one is. */
export async function startTracedGateway() {
  const traceparents: (string | undefined)[] = [];
  const server = createServer(async (request, response) => {
    await bodyOf(request);
    if (request.method !== "POST") return void response.writeHead(404).end();
    traceparents.push(request.headers["traceparent"]?.toString());
    if (traceparents.length % 10 === 0) {
      response.writeHead(429, { "x-service-error-code": "rate_limit_exceeded", "retry-after": "1" });
      return void response.end('{"error":{"message":"slower","type":"rate_limit_error","code":"rate_limit_exceeded"}}');
    }
    response.writeHead(200, { "content-type": "text/event-stream" });
    for (const content of ["Hel", "lo"]) response.write(`data: {"choices":[{"delta":{"content":"${content}"}}]}\n\n`);
    response.end("data: [DONE]\n\n");
  });
  return { ...(await listening(server, () => server.closeAllConnections())), traceparents };
}
