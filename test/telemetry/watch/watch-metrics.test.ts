// real-time: sends load, and judges how much of it was served in time
import { readFileSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { WatchedMetrics } from "../../../src/record/index.ts";
import { MAX_SERIES } from "../../../src/telemetry/watch/chosen-series.ts";
import { filesBelow, tracesOf } from "../../support/canary.ts";
import { gauntlet, temporaryFolder } from "../../support/gauntlet.ts";
import { listening } from "../../support/listening.ts";
import { searchable } from "../../support/run-files.ts";

const MIB = 2 ** 20;
const KEY = "ck-metrics-0123456789abcdefghij";
const REPLY = '{"choices":[{"index":0,"message":{"role":"assistant","content":"ok"},"finish_reason":"stop"}]}';

interface Seen {
  /** Requests of the load so far. */
  served: number;
  /** How many there were at each scrape. */
  readonly scrapes: number[];
  readonly keys: Set<string | undefined>;
  readonly connections: Set<Socket>;
  readonly ofLoad: Set<Socket>;
}

type Respond = (seen: Seen, response: ServerResponse, request: IncomingMessage) => void;

/** A gateway whose metrics are at /metrics, next to its interface. */
async function gateway(respond: Respond) {
  const seen: Seen = { served: 0, scrapes: [], keys: new Set(), connections: new Set(), ofLoad: new Set() };
  const server = createServer((request, response) => {
    request.resume();
    if (request.url?.startsWith("/metrics") === true) {
      seen.scrapes.push(seen.served);
      seen.keys.add(request.headers.authorization);
      seen.connections.add(request.socket);
      return respond(seen, response, request);
    }
    seen.served++;
    seen.ofLoad.add(request.socket);
    response.writeHead(200, { "content-type": "application/json" });
    response.end(REPLY);
  });
  server.keepAliveTimeout = 60_000;
  return { ...(await listening(server, () => server.closeAllConnections())), seen };
}

/** Every request leaks a MiB and a file. */
const text = (served: number) => `# TYPE process_resident_memory_bytes gauge
process_resident_memory_bytes ${100 * MIB + served * MIB}
# TYPE process_open_fds gauge
process_open_fds 20
# TYPE process_cpu_seconds_total counter
process_cpu_seconds_total ${served / 100}
# TYPE http_requests_total counter
http_requests_total{path="/v1/chat/completions",code="200"} ${served}
`;

const plain: Respond = ({ served }, response) => {
  response.writeHead(200, { "content-type": "text/plain; version=0.0.4" });
  response.end(text(served));
};

interface Options {
  /** Address of the endpoint; default: the gateway's own. */
  readonly url?: string;
  readonly durationS?: number;
  readonly more?: readonly string[];
}

async function load(origin: string, { url = `${origin}/metrics`, durationS = 1, more = [] }: Options = {}) {
  using folder = temporaryFolder();
  const write = (name: string, written: string) => writeFileSync(join(folder.path, name), written);
  write("t.yaml", `baseUrl: ${origin}/v1\nkeys: { valid: "env:KEY" }\nmodels: { chat: m }\n`);
  write(
    "w.yaml",
    `name: w\narrivals: { kind: constant, ratePerS: 20, durationS: ${durationS} }\nmix: [{ dialect: chat }]\n`,
  );
  const args = ["load", "w.yaml", "--target", "t.yaml", "--json", "--out", "run", "--watch-metrics", url];
  const done = await gauntlet(
    [...args, "--watch-interval-s", "0.2", ...more],
    { KEY: "sk-a-key-that-is-not-real", METRICS_KEY: KEY },
    folder.path,
  );
  const document = done.stdout === "" ? undefined : JSON.parse(done.stdout);
  const out = join(folder.path, "run");
  return {
    ...done,
    document,
    metrics: document?.watched?.metrics as WatchedMetrics,
    html: done.code === 2 ? "" : readFileSync(join(out, "report.html"), "utf8"),
    files:
      done.code === 2
        ? ""
        : filesBelow(out)
            .map((path) => searchable(path).toString("latin1"))
            .join("\n"),
  };
}

const named = (metrics: WatchedMetrics, name: string) => metrics.series.find((series) => series.name === name);

test.concurrent("gauges as values, counters as rates, on the time axis of the load; and which of them leak", async () => {
  await using target = await gateway(plain);
  const { code, document, metrics, html, stderr } = await load(target.origin, { durationS: 6 });
  expect(code, stderr).toBe(document.exitCode);
  const { scrapes } = target.seen;
  expect(metrics).toMatchObject({ url: `${target.origin}/metrics`, everyS: 0.2, failed: 0, dropped: [] });
  expect(metrics.scrapes).toBe(scrapes.length);
  expect(metrics.firstFailure).toBeUndefined();
  expect(metrics.series.map(({ name, kind }) => [name, kind])).toEqual([
    ["process_resident_memory_bytes", "gauge"],
    ["process_open_fds", "gauge"],
    ["process_cpu_seconds_total", "counter"],
    ["http_requests_total", "counter"],
  ]);

  // Requests before the load are in no series; they are the starting value.
  const own = scrapes.slice(scrapes.length - metrics.atS.length);
  const memory = named(metrics, "process_resident_memory_bytes")?.values;
  expect(memory).toEqual(own.map((served) => 100 * MIB + served * MIB));
  const requests = named(metrics, "http_requests_total");
  expect(requests?.labels).toEqual({ path: "/v1/chat/completions", code: "200" });
  for (let index = 1; index < own.length; index++) {
    const passedS = (metrics.atS[index] ?? 0) - (metrics.atS[index - 1] ?? 0);
    const grown = (requests?.values[index] ?? 0) * passedS;
    expect(grown, `scrape ${index}`).toBeCloseTo((own[index] ?? 0) - (own[index - 1] ?? 0), 6);
  }
  expect(own.at(-1)).toBe(document.phases[0].sent);
  expect(metrics.atS.at(-1)).toBeGreaterThan(document.durationS + 2);

  const leaks = new Map(metrics.leaks.map((leak) => [leak.resource, leak]));
  expect([...leaks.keys()]).toEqual(["process_resident_memory_bytes", "process_open_fds"]);
  const leak = leaks.get("process_resident_memory_bytes");
  expect(leak).toMatchObject({ verdict: "growth", unit: "bytes", first: 100 * MIB });
  // 20 requests a second, a MiB each: 1,200 MiB a minute.
  expect((leak?.perMinute?.low ?? 0) / MIB).toBeGreaterThan(600);
  expect((leak?.perMinute?.high ?? 0) / MIB).toBeLessThan(2_400);
  expect(leaks.get("process_open_fds")).toMatchObject({ verdict: "idle", first: 20, last: 20 });

  // Over one connection, which is not part of the load.
  expect(target.seen.connections.size).toBe(1);
  for (const socket of target.seen.connections) expect(target.seen.ofLoad.has(socket)).toBe(false);
  expect([...target.seen.keys]).toEqual([undefined]);
  expect(html).toContain("metrics over time");
  expect(html).toContain("http_requests_total{code=&quot;200&quot;,path=&quot;/v1/chat/completions&quot;}, /s");
});

test.concurrent("a key is sent only to the endpoint and shown nowhere, even if the endpoint repeats it", async () => {
  await using target = await gateway((seen, response, request) => {
    response.writeHead(200, { "content-type": "text/plain" });
    const label = `${request.headers.authorization}\\" ${encodeURIComponent(KEY)}`;
    response.end(`http_requests_total{caller="${label}"} ${seen.served}\nprocess_resident_memory_bytes 1e8\n`);
  });
  const { metrics, files, stdout, stderr } = await load(target.origin, { more: ["--watch-key", "env:METRICS_KEY"] });
  expect([...target.seen.keys]).toEqual([`Bearer ${KEY}`]);
  expect(named(metrics, "http_requests_total")?.labels["caller"], stderr).toMatch(/^Bearer \[key\.watch/);
  for (const trace of tracesOf(KEY)) expect(`${files}${stdout}${stderr}`.includes(trace), trace).toBe(false);
});

test.concurrent("series beyond the limit are listed by name; a pattern chooses others", async () => {
  await using target = await gateway((seen, response) => {
    const paths = Array.from({ length: 70 }, (_, index) => `http_requests_total{path="/${index}"} ${seen.served}\n`);
    response.end(`${text(seen.served)}queue_depth 3\n${paths.join("")}`);
  });
  const all = await load(target.origin);
  expect(all.metrics.series).toHaveLength(MAX_SERIES);
  expect(all.metrics.dropped).toEqual([{ name: "http_requests_total", series: 74 - MAX_SERIES }]);
  expect(all.html).toContain(`${74 - MAX_SERIES} more series were not recorded: http_requests_total`);
  const { metrics } = await load(target.origin, { more: ["--watch-series", 'depth|path="/6[0-2]"'] });
  expect(metrics.dropped).toEqual([]);
  expect(metrics.series.map(({ name, labels, kind }) => [name, labels["path"], kind])).toEqual([
    ["queue_depth", undefined, "gauge"],
    ["http_requests_total", "/60", "counter"],
    ["http_requests_total", "/61", "counter"],
    ["http_requests_total", "/62", "counter"],
  ]);
});

test.concurrent("a restarted process is reported, and no rate is negative", async () => {
  await using target = await gateway((seen, response) => {
    const count = seen.scrapes.length < 8 ? 1_000 + seen.served : seen.served;
    response.end(`# TYPE http_requests_total counter\nhttp_requests_total ${count}\n`);
  });
  const { metrics, html } = await load(target.origin, { durationS: 2 });
  const [requests] = metrics.series;
  expect(requests).toMatchObject({ name: "http_requests_total", restarts: 1 });
  for (const value of requests?.values ?? []) expect(value ?? 0).toBeGreaterThanOrEqual(0);
  expect(html).toContain("reset once");
});

describe.concurrent("an endpoint with an unusable response is reported once, and changes nothing", () => {
  test.each<[what: string, respond: Respond, message: string]>([
    ["refuses", (_, response) => void response.writeHead(401).end(), "responded with 401"],
    [
      "is a page",
      (_, response) => void response.setHeader("content-type", "text/html").end("<html>\nhello 1\n</html>"),
      "the response is a web page, not Prometheus text",
    ],
    [
      "says something else",
      (_, response) => void response.end('{"status":"ok"}'),
      "the response is not Prometheus text",
    ],
    [
      "redirects",
      (_, response) => void response.writeHead(302, { location: "/metrics/other" }).end(),
      "responded with 302: redirects are not followed",
    ],
    ["hangs up", (_, response) => void response.destroy(), "ECONNRESET"],
    ["is far too long", (_, response) => void response.end("x".repeat(9 * MIB)), "the response exceeds 8 MiB"],
  ])("%s", async (_what, respond, message) => {
    await using target = await gateway(respond);
    const { code, document, metrics, stderr, html } = await load(target.origin);
    expect(stderr.split("--watch-metrics: ").slice(1)).toEqual([
      expect.stringMatching(new RegExp(`^${message}; the load does not depend on it`)),
    ]);
    expect(code).toBe(document.exitCode);
    expect(document.phases[0]).toMatchObject({ sent: 20, admitted: 20 });
    expect(metrics).toMatchObject({ series: [], atS: [], leaks: [], firstFailure: { message } });
    expect(metrics.failed).toBe(metrics.scrapes);
    expect(metrics.failed).toBeGreaterThan(5);
    expect(html).toContain(`0 of ${metrics.scrapes} scrapes succeeded`);
  });

  test("does not exist", async () => {
    await using target = await gateway(plain);
    const gone = createServer();
    const { origin, [Symbol.asyncDispose]: close } = await listening(gone, () => undefined);
    await close();
    const { code, document, metrics } = await load(target.origin, { url: `${origin}/metrics` });
    expect(code).toBe(document.exitCode);
    expect(metrics.firstFailure?.message).toBe("ECONNREFUSED");
  });

  test("for a while", async () => {
    await using target = await gateway((seen, response, request) => {
      if (seen.scrapes.length % 3 === 0) return void response.writeHead(503).end();
      plain(seen, response, request);
    });
    const { metrics } = await load(target.origin, { durationS: 2 });
    expect(metrics.failed).toBe(Math.floor(target.seen.scrapes.length / 3));
    expect(metrics.firstFailure?.message).toBe("responded with 503");
    expect(named(metrics, "http_requests_total")?.values).toHaveLength(metrics.atS.length);
    expect(
      Math.max(...(named(metrics, "http_requests_total")?.values ?? []).map((value) => value ?? 0)),
    ).toBeGreaterThan(5);
  });
});

test("a dry run scrapes nothing", async () => {
  await using target = await gateway(plain);
  const args = ["load", "peak", "--target", "embedded", "--dry-run", "--watch-metrics", `${target.origin}/metrics`];
  const { code } = await gauntlet(args);
  expect(code).toBe(0);
  expect(target.seen.scrapes).toEqual([]);
});

describe("refused before anything is sent", () => {
  const url = ["--watch-metrics", "http://127.0.0.1:9/metrics"];
  test.each<[what: string, args: string[], message: RegExp]>([
    ["no address", ["--watch-metrics", "127.0.0.1:9"], /takes the http or https address of a Prometheus endpoint/],
    ["a password in it", ["--watch-metrics", "http://a:b@127.0.0.1:9/"], /without user or password/],
    ["a key itself", [...url, "--watch-key", KEY], /--watch-key: a reference is expected, not a key/],
    [
      "a key that is not set",
      [...url, "--watch-key", "env:NO_SUCH"],
      /--watch-key env:NO_SUCH: environment variable NO_SUCH is not set/,
    ],
    ["an invalid pattern", [...url, "--watch-series", "("], /--watch-series takes a regular expression, not "\("/],
    ["a pattern for nothing", ["--watch-series", "x"], /--watch-series needs --watch-metrics/],
    ["a key for nothing", ["--watch-key", "env:METRICS_KEY"], /--watch-key needs --watch-metrics/],
  ])("%s", async (_what, args, message) => {
    const { code, stderr } = await gauntlet(["load", "peak", "--target", "embedded", ...args], { METRICS_KEY: KEY });
    expect(stderr).toMatch(message);
    expect(stderr).not.toContain(KEY);
    expect(code).toBe(2);
  });
});
