// real-time: sends load, and judges how much of it was served in time
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { JudgedPhase, LoadClass, RunRecord } from "../../../src/record/index.ts";
import { gauntlet, startGauntlet, temporaryFolder } from "../../support/gauntlet.ts";
import { unzipped } from "../../support/run-files.ts";

const KEY = "sk-workers-0123456789abcdef";
/** Before load, Gauntlet opens a connection to find out whether there is a server at all. */
const PREFLIGHT_CONNECTIONS = 1;
// Usable in both dialects.
const REPLY =
  '{"choices":[{"index":0,"message":{"role":"assistant","content":"ok"},"finish_reason":"stop"}],"content":[{"type":"text","text":"ok"}]}';

/** A server that keeps its own count of the requests. */
async function countingServer(respond: (count: number, response: ServerResponse) => void) {
  const seen = { requests: 0, paths: new Map<string, number>(), inFlight: 0, peak: 0, connections: 0 };
  const waiting = new Set<() => void>();
  const server = createServer((request: IncomingMessage, response: ServerResponse) => {
    seen.requests++;
    seen.paths.set(request.url ?? "", (seen.paths.get(request.url ?? "") ?? 0) + 1);
    seen.inFlight++;
    seen.peak = Math.max(seen.peak, seen.inFlight);
    response.on("close", () => seen.inFlight--);
    request.resume();
    for (const look of waiting) look();
    respond(seen.requests, response);
  });
  server.keepAliveTimeout = 60_000;
  server.on("connection", () => seen.connections++);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    seen,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    /** Resolves when this many requests have arrived. */
    reached: (count: number) =>
      new Promise<void>((resolve) => {
        const look = () => {
          if (seen.requests >= count) resolve();
        };
        waiting.add(look);
        look();
      }),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

function reply(response: ServerResponse, ms = 30): void {
  setTimeout(() => {
    response.writeHead(200, { "content-type": "application/json", "content-length": REPLY.length });
    response.end(REPLY);
  }, ms);
}

interface Plan {
  readonly url: string;
  readonly workload: object;
  readonly workers: number;
}

function argumentsFor(folder: string, { url, workload, workers }: Plan, out: string): string[] {
  const path = join(folder, `${out}.yaml`);
  const target = join(folder, `${out}-target.yaml`);
  writeFileSync(path, JSON.stringify({ name: "shared", ...workload }));
  writeFileSync(
    target,
    JSON.stringify({ baseUrl: url, keys: { valid: "env:WORKERS_KEY" }, models: { chat: "m", messages: "m" } }),
  );
  const folders = ["--target", target, "--out", join(folder, out), "--seed", "7"];
  return ["load", path, "--json", "--workers", String(workers), ...folders];
}

async function run(plan: Plan): Promise<{ phase: JudgedPhase; record: RunRecord; files: string }> {
  using folder = temporaryFolder();
  const done = await gauntlet(argumentsFor(folder.path, plan, "run"), { WORKERS_KEY: KEY });
  const read = (name: string) => readFileSync(join(folder.path, "run", name), "utf8");
  if (done.code !== 0 && done.code !== 1 && done.code !== 4) throw new Error(done.stderr);
  const record = JSON.parse(read("run.json")) as RunRecord;
  const phase = record.load?.runs[0]?.phases[0] as JudgedPhase;
  return {
    phase,
    record,
    files: read("run.json") + unzipped(join(folder.path, "run", "exchanges", "exchanges.ndjson.gz")),
  };
}

const countsOf = ({ classes }: JudgedPhase) =>
  Object.fromEntries(classes.map(({ dialect, outcome, count }: LoadClass) => [`${dialect} ${outcome}`, count]));
const sumOf = (phase: JudgedPhase, field: "offered" | "sent" | "admitted" | "denied") =>
  phase.series.reduce((sum, second) => sum + second[field], 0);

describe.concurrent("worker threads", () => {
  const mix = [
    { dialect: "chat", weight: 2 },
    { dialect: "messages", weight: 1 },
  ];

  test("send what one thread would have sent, and count it once", async () => {
    const workload = { arrivals: { kind: "constant", ratePerS: 150, durationS: 2 }, mix };
    await using alone = await countingServer((_, response) => reply(response));
    await using shared = await countingServer((_, response) => reply(response));
    const one = await run({ url: alone.url, workload, workers: 0 });
    const three = await run({ url: shared.url, workload, workers: 3 });
    expect(shared.seen.requests).toBe(300);
    expect(three.phase).toMatchObject({ offered: 300, sent: 300, admitted: 300, denied: 0, failed: 0, dropped: 0 });
    expect(three.record.load?.runs[0]?.generator.workers).toBe(3);
    expect(countsOf(three.phase)).toEqual({
      "chat admitted": shared.seen.paths.get("/v1/chat/completions"),
      "messages admitted": shared.seen.paths.get("/v1/messages"),
    });
    expect(countsOf(three.phase)).toEqual(countsOf(one.phase));
    expect([...shared.seen.paths]).toHaveLength(2);
    for (const field of ["offered", "sent", "admitted"] as const) expect(sumOf(three.phase, field)).toBe(300);
    expect(three.phase.connections).toBe(shared.seen.connections - PREFLIGHT_CONNECTIONS);
    expect(three.phase.heat?.response.columns.join(" ")).not.toBe("");
    expect(three.files).not.toContain(KEY);
    expect(three.files).toContain("[key.valid]");
  });

  test("a closed loop has exactly its number in flight, and ends at exactly its number of requests", async () => {
    // The first of them get their responses when the seventh has arrived, however late a thread starts.
    const held: ServerResponse[] = [];
    await using server = await countingServer((count, response) => {
      if (count > 7) return reply(response);
      held.push(response);
      if (count === 7) for (const first of held) reply(first);
    });
    const arrivals = { kind: "closed", inFlight: 7, requests: 50, rampS: 0 };
    const { phase } = await run({ url: server.url, workload: { arrivals }, workers: 3 });
    expect(server.seen).toMatchObject({ requests: 50, peak: 7, connections: 7 + PREFLIGHT_CONNECTIONS });
    expect(phase).toMatchObject({ sent: 50, admitted: 50, peakInFlight: 7, connections: 7 });
    expect(Math.max(...phase.series.map(({ inFlight }) => inFlight))).toBe(7);
  });

  test("one worker alone has the latencies of each second, as one thread has", async () => {
    await using server = await countingServer((_, response) => reply(response));
    const workload = { arrivals: { kind: "constant", ratePerS: 30, durationS: 2 } };
    const { phase } = await run({ url: server.url, workload, workers: 1 });
    expect(phase.sent).toBe(60);
    for (const { admitted, responseByModeMs } of phase.series)
      expect(responseByModeMs?.nonStreaming === null).toBe(admitted === 0);
    expect(phase.series[0]?.responseByModeMs?.nonStreaming?.p50).toBeGreaterThanOrEqual(29);
  });

  test("more workers than requests in flight leave no worker without work", async () => {
    await using server = await countingServer((_, response) => reply(response));
    const arrivals = { kind: "closed", inFlight: 2, requests: 9, rampS: 0 };
    const { phase, record } = await run({ url: server.url, workload: { arrivals }, workers: 5 });
    expect(server.seen).toMatchObject({ requests: 9, peak: 2 });
    expect(phase).toMatchObject({ sent: 9, admitted: 9 });
    expect(record.load?.runs[0]?.generator.workers).toBe(2);
  });

  test("denials of all of them are combined, and each waits as Retry-After states", async () => {
    let denied = 0;
    await using server = await countingServer((count, response) => {
      if (count % 10 !== 0) return reply(response);
      denied++;
      response.writeHead(429, { "x-service-error-code": "rate_limit_exceeded", "retry-after": "1" });
      response.end("{}");
    });
    const workload = {
      arrivals: { kind: "constant", ratePerS: 100, durationS: 1 },
      retryAfter: "compliant",
      allow: { deniedShare: 1 },
    };
    const { phase, record } = await run({ url: server.url, workload, workers: 2 });
    const retries = record.load?.runs[0]?.retryAfter;
    expect(denied).toBeGreaterThan(9);
    expect(phase).toMatchObject({ sent: server.seen.requests, denied, admitted: server.seen.requests - denied });
    expect(phase.denials).toMatchObject([
      { reason: "rate_limit_exceeded", dialect: "chat", stream: false, count: denied },
    ]);
    expect(retries?.groups).toHaveLength(1);
    expect(retries?.groups[0]).toMatchObject({ denials: denied, present: denied, usable: denied });
    expect(retries?.client).toMatchObject({ earlySends: 0, forbiddenRetries: 0, retries: denied });
    expect(retries?.groups[0]?.retryAfterWaitMs).toMatchObject({ p50: 1_000 });
  });

  test("an interruption reaches all of them: requests in flight are awaited and counted", async () => {
    await using server = await countingServer((_, response) => reply(response, 200));
    using folder = temporaryFolder();
    const workload = { arrivals: { kind: "constant", ratePerS: 50, durationS: 600 } };
    const plan = { url: server.url, workload, workers: 2 };
    await using running = startGauntlet(argumentsFor(folder.path, plan, "cut"), { WORKERS_KEY: KEY });
    await server.reached(30);
    running.child.kill("SIGINT");
    await running.finished;
    const record = JSON.parse(readFileSync(join(folder.path, "cut", "run.json"), "utf8")) as RunRecord;
    const phase = record.load?.runs[0]?.phases[0];
    expect(record.complete).toBe(false);
    expect(phase).toMatchObject({ sent: server.seen.requests, admitted: server.seen.requests, failed: 0 });
    expect(server.seen.inFlight).toBe(0);
  });
});

test.each([
  [["starter", "--workers", "1.5"], "--workers takes a whole number from 0 to 64"],
  [["starter", "--workers", "65"], "--workers takes a whole number from 0 to 64"],
  [["peak", "--engine", "autocannon", "--workers", "2"], "--workers needs the native engine"],
])("%j is a mistake of the command line", async (args, message) => {
  const { code, stderr } = await gauntlet(["load", "--target", "embedded", ...args]);
  expect(code).toBe(2);
  expect(stderr).toContain(message);
});
