import { writeFileSync } from "node:fs";
import { createServer, type IncomingMessage } from "node:http";
import { createRequire } from "node:module";
import { join } from "node:path";
import { expect, test } from "vitest";
import { gauntlet, temporaryFolder } from "../support/gauntlet.ts";
import { listening } from "../support/listening.ts";

/** The messages of OTLP as the OpenTelemetry project generates them from its own definitions. */
const { opentelemetry } = createRequire(import.meta.url)("@opentelemetry/otlp-transformer/build/src/generated/root.js");
const { collector } = opentelemetry.proto;

interface KeyValue {
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

interface Metric {
  readonly name: string;
  readonly sum?: { readonly dataPoints: readonly Point[] };
  readonly histogram?: { readonly aggregationTemporality: number; readonly dataPoints: readonly Point[] };
}

const valuesOf = (attributes: readonly KeyValue[]) =>
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

/** A collector that keeps what it was sent, or refuses it. */
async function startCollector(status = 200) {
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
async function startGateway() {
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

async function load(gateway: string, collectorUrl: string) {
  using folder = temporaryFolder();
  writeFileSync(
    join(folder.path, "w.yaml"),
    "name: w\narrivals: { kind: constant, ratePerS: 200, durationS: 2 }\nmix: [{ dialect: chat, stream: true }]\nallow: { deniedShare: 1 }\n",
  );
  writeFileSync(
    join(folder.path, "t.yaml"),
    `baseUrl: ${gateway}/v1\nkeys: { valid: env:K }\nmodels: { chat: plain }\n`,
  );
  const args = ["load", "w.yaml", "--target", "t.yaml", "--json", "--out", "run", "--otlp", collectorUrl];
  const finished = await gauntlet(args, { K: "ck-otlp-0123456789abcdef" }, folder.path);
  return { ...finished, document: JSON.parse(finished.stdout) };
}

test("--otlp: counters equal the record, and each span is a request that the gateway got", async () => {
  await using otlp = await startCollector();
  await using gateway = await startGateway();
  const { document, stderr } = await load(gateway.origin, otlp.origin);
  expect(stderr).not.toContain("OTLP");
  expect([...otlp.types]).toEqual(["application/x-protobuf"]);
  const [phase] = document.phases;

  const last = decoded(collector.metrics.v1.ExportMetricsServiceRequest)(otlp.metrics.at(-1) as Buffer);
  const [{ resource, scopeMetrics }] = last.resourceMetrics;
  expect(valuesOf(resource.attributes)).toMatchObject({ "service.name": "gauntlet" });
  const metrics = new Map<string, Metric>(scopeMetrics[0].metrics.map((metric: Metric) => [metric.name, metric]));
  const requests = metrics.get("gauntlet.requests")?.sum?.dataPoints ?? [];
  const counts = Object.fromEntries(
    requests.map((point) => [valuesOf(point.attributes)["gauntlet.outcome"], point.asInt]),
  );
  for (const count of ["offered", "sent", "admitted", "denied", "failed", "dropped"])
    expect(counts[count], count).toBe(phase[count]);
  for (const [name, count] of [
    ["gen_ai.client.operation.duration", phase.sent],
    ["http.client.request.duration", phase.sent],
    ["gen_ai.server.time_to_first_token", phase.admitted],
    ["gen_ai.client.operation.time_to_first_chunk", phase.admitted],
  ]) {
    const histogram = metrics.get(name)?.histogram;
    expect(histogram?.aggregationTemporality, name).toBe(2);
    const points = histogram?.dataPoints ?? [];
    expect(
      points.reduce((sum, point) => sum + point.count, 0),
      name,
    ).toBe(count);
    for (const { count: all, bucketCounts, explicitBounds } of points) {
      expect(bucketCounts).toHaveLength(explicitBounds.length + 1);
      expect(bucketCounts.reduce((sum, one) => sum + one, 0)).toBe(all);
    }
    expect(valuesOf(points[0]?.attributes ?? [])).toMatchObject({
      "server.address": "127.0.0.1",
      "gen_ai.operation.name": "chat",
      "gauntlet.phase": "w",
    });
  }

  const spans = otlp.traces
    .map(decoded(collector.trace.v1.ExportTraceServiceRequest))
    .flatMap(({ resourceSpans }) => resourceSpans[0].scopeSpans[0].spans);
  const hex = (base64: string) => Buffer.from(base64, "base64").toString("hex");
  const told = spans.map(({ traceId, spanId }) => `00-${hex(traceId)}-${hex(spanId)}-01`);
  const sent = gateway.traceparents.filter((traceparent) => traceparent !== undefined);
  // Every second one of 400.
  expect(sent).toHaveLength(200);
  expect(new Set(told)).toEqual(new Set(sent));
  expect(told).toHaveLength(sent.length);
  for (const { name, kind, startTimeUnixNano, endTimeUnixNano, attributes, status } of spans) {
    expect([name, kind]).toEqual(["chat plain", 3]);
    expect(endTimeUnixNano).toBeGreaterThan(startTimeUnixNano);
    const isDenied = valuesOf(attributes)["http.response.status_code"] === 429;
    expect(status?.code ?? 0).toBe(isDenied ? 2 : 0);
    if (isDenied) expect(valuesOf(attributes)["error.type"]).toBe("rate_limit_exceeded");
  }
});

test.each([
  ["refuses", async () => startCollector(503), /\/v1\/\w+ answered 503/],
  [
    "is not there",
    async () =>
      listening(createServer(), () => undefined).then(async (gone) => {
        await gone[Symbol.asyncDispose]();
        return { origin: gone.origin, [Symbol.asyncDispose]: async () => undefined };
      }),
    /ECONNREFUSED/,
  ],
] as const)("a collector that %s is told of, and changes nothing", async (_, start, why) => {
  await using otlp = await start();
  await using gateway = await startGateway();
  const { code, document, stderr } = await load(gateway.origin, otlp.origin);
  expect(stderr).toMatch(/OTLP: (\d+) of \1 exports to http:.* failed/);
  expect(stderr).toMatch(why);
  expect(code).toBe(document.exitCode);
  expect(code).toBe(document.generator.valid ? 0 : 4);
});
