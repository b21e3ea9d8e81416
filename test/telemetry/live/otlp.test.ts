// real-time: sends load, and judges how much of it was served in time
import { writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { networkInterfaces } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { gauntlet, temporaryFolder } from "../../support/gauntlet.ts";
import { listening } from "../../support/listening.ts";
import { metricsOf, spansOf, startCollector, startTracedGateway, valuesOf } from "../../support/otlp.ts";

async function load(gateway: string, collectorUrl: string, env: Readonly<Record<string, string>> = {}) {
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
  const finished = await gauntlet(args, { K: "ck-otlp-0123456789abcdef", ...env }, folder.path);
  return { ...finished, document: finished.stdout === "" ? undefined : JSON.parse(finished.stdout) };
}

test("--otlp: counters equal the record, and each span is a request that the gateway got", async () => {
  await using otlp = await startCollector();
  await using gateway = await startTracedGateway();
  const { document, stderr } = await load(gateway.origin, otlp.origin);
  expect(stderr).not.toContain("OTLP");
  expect([...otlp.types]).toEqual(["application/x-protobuf"]);
  const [phase] = document.phases;

  const { metrics, resource } = metricsOf(otlp.metrics.at(-1) as Buffer);
  expect(resource).toMatchObject({ "service.name": "gauntlet" });
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

  const spans = spansOf(otlp.traces);
  const exported = spans.map(({ traceparent }) => traceparent);
  const sent = gateway.traceparents.filter((traceparent) => traceparent !== undefined);
  // Every second one of 400.
  expect(sent).toHaveLength(200);
  expect(new Set(exported)).toEqual(new Set(sent));
  expect(exported).toHaveLength(sent.length);
  for (const { name, kind, startTimeUnixNano, endTimeUnixNano, attributes, status } of spans) {
    expect([name, kind]).toEqual(["chat plain", 3]);
    expect(endTimeUnixNano).toBeGreaterThan(startTimeUnixNano);
    const isDenied = valuesOf(attributes)["http.response.status_code"] === 429;
    expect(status?.code ?? 0).toBe(isDenied ? 2 : 0);
    if (isDenied) expect(valuesOf(attributes)["error.type"]).toBe("rate_limit_exceeded");
  }
});

test.each([
  [
    "refuses",
    async () => startCollector(503),
    /\/v1\/\w+ kept responding with a retryable status \(429, 502, 503 or 504\)/,
  ],
  ["rejects", async () => startCollector(401), /\/v1\/\w+ responded with 401/],
  [
    "never responds",
    async () => {
      const silent = createServer();
      return listening(silent, () => silent.closeAllConnections());
    },
    /no response within 5 s/,
  ],
  [
    "is not there",
    async () =>
      listening(createServer(), () => undefined).then(async (gone) => {
        await gone[Symbol.asyncDispose]();
        return { origin: gone.origin, [Symbol.asyncDispose]: async () => undefined };
      }),
    /ECONNREFUSED/,
  ],
] as const)("a collector that %s is reported, and changes nothing", async (_, start, why) => {
  await using otlp = await start();
  await using gateway = await startTracedGateway();
  const { code, document, stderr } = await load(gateway.origin, otlp.origin);
  expect(stderr).toMatch(/OTLP: (\d+) of \1 exports to http:.* failed/);
  expect(stderr).toMatch(why);
  expect(code).toBe(document.exitCode);
  expect(code).toBe(document.generator.valid ? 0 : 4);
});

test("headers for the collector are read from the environment and are not shown", async () => {
  await using otlp = await startCollector(401);
  await using gateway = await startTracedGateway();
  const headers = "authorization=Bearer%20otlp-secret-0123456789";
  const { code, stdout, stderr } = await load(gateway.origin, otlp.origin, { OTEL_EXPORTER_OTLP_HEADERS: headers });
  expect([...otlp.authorizations]).toEqual(["Bearer otlp-secret-0123456789"]);
  expect(stderr).toContain("responded with 401");
  expect(`${stdout}${stderr}`).not.toContain("otlp-secret");
  expect([0, 4]).toContain(code);

  const wrong = await load(gateway.origin, otlp.origin, { OTEL_EXPORTER_OTLP_HEADERS: "authorization=otlp-secret%" });
  expect(wrong.stderr).toContain("OTEL_EXPORTER_OTLP_HEADERS");
  expect(wrong.stderr).not.toContain("otlp-secret");
  expect(wrong.code).toBe(2);
});

const hasIpv6 = Object.values(networkInterfaces()).some((all) => all?.some(({ address }) => address === "::1"));

test.runIf(hasIpv6)("a collector may have an IPv6 address", async () => {
  await using otlp = await startCollector(200, "::1");
  await using gateway = await startTracedGateway();
  const { stderr } = await load(gateway.origin, otlp.origin);
  expect(stderr).not.toContain("OTLP");
  expect(otlp.metrics.length).toBeGreaterThan(1);
});
