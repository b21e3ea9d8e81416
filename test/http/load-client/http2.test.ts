// real-time: sends load, and judges how much of it was served in time
import { once } from "node:events";
import { createServer, type Http2Server, type ServerHttp2Session, type ServerHttp2Stream } from "node:http2";
import type { AddressInfo, Socket } from "node:net";
import { describe, expect, test } from "vitest";
import { RequestBudget } from "../../../src/budget/index.ts";
import { Redactor } from "../../../src/http/recorder/index.ts";
import { DEFAULT_ALLOW, runWorkload, type Sample, type Workload } from "../../../src/load/index.ts";
import { parseTarget } from "../../../src/target/index.ts";

type Respond = (stream: ServerHttp2Stream, count: number) => void;

/** An HTTP/2 server without TLS that keeps its own count. */
async function http2Server(respond: Respond, maxConcurrentStreams = 1_000) {
  const seen = { streams: 0, sessions: 0, peakOfOne: 0, inFlight: 0, peak: 0, paths: new Set<string>(), bodies: 0 };
  const sessions = new Set<ServerHttp2Session>();
  const server: Http2Server = createServer({ settings: { maxConcurrentStreams } });
  const sockets = new Set<Socket>();
  server.on("connection", (socket: Socket) => sockets.add(socket));
  server.on("session", (session) => {
    seen.sessions++;
    sessions.add(session);
    session.on("close", () => sessions.delete(session));
    session.on("error", () => undefined);
    let own = 0;
    session.on("stream", (stream: ServerHttp2Stream, headers) => {
      seen.streams++;
      seen.paths.add(`${headers[":method"]} ${headers[":path"]} ${headers["content-type"]}`);
      own++;
      seen.inFlight++;
      seen.peakOfOne = Math.max(seen.peakOfOne, own);
      seen.peak = Math.max(seen.peak, seen.inFlight);
      stream.on("error", () => undefined);
      stream.on("close", () => {
        own--;
        seen.inFlight--;
      });
      const count = seen.streams;
      let body = "";
      stream.on("data", (bytes: Buffer) => {
        body += bytes.toString();
      });
      stream.on("end", () => {
        if (JSON.parse(body).model === "m") seen.bodies++;
        respond(stream, count);
      });
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    seen,
    /** Resets the connections, as a crash does. */
    cutAll: () => {
      for (const socket of sockets) socket.destroy();
    },
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    async [Symbol.asyncDispose]() {
      for (const session of sessions) session.destroy();
      server.close();
      await once(server, "close");
    },
  };
}

const KEY = "sk-http2-0123456789abcdef";

async function run(url: string, workload: Partial<Workload>, idleS = 20) {
  const target = parseTarget(
    JSON.stringify({ baseUrl: url, keys: { valid: "env:K" }, models: { chat: "m" }, http: 2, timeouts: { idleS } }),
    "t.yaml",
    { K: KEY },
  );
  const never = new AbortController().signal;
  const samples: Sample[] = [];
  const { run: done } = await runWorkload(
    {
      name: "w",
      tier: undefined,
      arrivals: { kind: "closed", inFlight: 4, requests: 8, rampS: 0 },
      mix: [{ dialect: "chat", stream: true, model: "m", promptTokens: 5, maxTokens: 16, weight: 1 }],
      maxInFlight: undefined,
      warmupS: 0,
      engine: "native",
      retryAfter: "none",
      allow: { ...DEFAULT_ALLOW, deniedShare: 1, failedShare: 1 },
      written: null,
      ...workload,
    },
    {
      target,
      budget: new RequestBudget(target.budget),
      keys: [target.keys.valid],
      seed: 1,
      stop: never,
      abort: never,
      redactor: new Redactor([{ name: "key.valid", value: KEY }]),
      onSample: (sample) => samples.push(sample),
      calibration: null,
    },
  );
  return { run: done, phase: done.phases[0], samples };
}

const event = (delta: object) => `data: ${JSON.stringify({ choices: [{ index: 0, delta }] })}\n\n`;

/** A role first, then this many tokens, each after its delay. */
function streamed(stream: ServerHttp2Stream, tokens: number, everyMs: number): void {
  stream.respond({ ":status": 200, "content-type": "text/event-stream" });
  stream.write(event({ role: "assistant", content: "" }));
  let sent = 0;
  const next = () => {
    if (stream.destroyed) return;
    if (sent++ === tokens) {
      stream.end("data: [DONE]\n\n");
      return;
    }
    stream.write(event({ content: "t" }));
    setTimeout(next, everyMs);
  };
  setTimeout(next, everyMs);
}

describe.concurrent("load over HTTP/2", () => {
  test("many streams share few connections, each request is served once, and every timestamp is present", async () => {
    await using server = await http2Server((stream) => streamed(stream, 4, 40));
    const arrivals = { kind: "closed", inFlight: 250, requests: 400, rampS: 0 } as const;
    const { run: done, phase, samples } = await run(server.url, { arrivals });
    expect(done.protocol).toBe("HTTP/2");
    expect(server.seen).toMatchObject({ streams: 400, bodies: 400, sessions: 3, peak: 250 });
    expect(server.seen.peakOfOne).toBeLessThanOrEqual(100);
    expect([...server.seen.paths]).toEqual(["POST /v1/chat/completions application/json"]);
    expect(phase).toMatchObject({ sent: 400, admitted: 400, failed: 0, connections: 3, peakInFlight: 250 });
    const [only] = phase?.classes ?? [];
    expect(only).toMatchObject({ count: 400, outputTokens: 1_600 });
    const p50 = (name: "headersMs" | "firstByteMs" | "firstEventMs" | "ttftMs" | "serviceMs") =>
      only?.[name]?.p50 ?? Number.NaN;
    expect(p50("headersMs")).toBeGreaterThan(0);
    expect(p50("firstByteMs")).toBeGreaterThanOrEqual(p50("headersMs"));
    expect(p50("firstEventMs")).toBeGreaterThanOrEqual(p50("firstByteMs"));
    expect(p50("ttftMs")).toBeGreaterThanOrEqual(p50("firstEventMs"));
    expect(p50("serviceMs")).toBeGreaterThan(p50("ttftMs"));
    const [sample] = samples;
    expect(sample?.exchange.response).toMatchObject({ status: 200 });
    expect(sample?.exchange.response?.headers).toContainEqual(["content-type", "text/event-stream"]);
    expect(sample?.exchange.response?.body.text).toContain("[DONE]");
    expect(JSON.stringify(samples)).not.toContain(KEY);
  });

  test("the first token is not the role that precedes it", async () => {
    await using server = await http2Server((stream) => streamed(stream, 2, 150));
    const { phase } = await run(server.url, { arrivals: { kind: "closed", inFlight: 1, requests: 3, rampS: 0 } });
    const [only] = phase?.classes ?? [];
    expect(only?.ttftMs?.p50).toBeGreaterThan(145);
    expect(only?.ttftMs?.p50).toBeGreaterThan(only?.firstEventMs?.p50 ?? Number.NaN);
    expect(only?.eventGapMs).not.toBeNull();
  });

  test("a server's own bound on streams is kept", async () => {
    await using server = await http2Server((stream) => streamed(stream, 2, 30), 10);
    const arrivals = { kind: "closed", inFlight: 25, requests: 50, rampS: 0 } as const;
    const { phase } = await run(server.url, { arrivals });
    expect(phase).toMatchObject({ admitted: 50, failed: 0, peakInFlight: 25, connections: 3 });
    expect(server.seen).toMatchObject({ streams: 50, sessions: 3 });
    expect(server.seen.peakOfOne).toBeLessThanOrEqual(10);
  });

  test("denials are read, interrupted streams are unfinished, however they end", async () => {
    let cutAll = (): void => undefined;
    await using server = await http2Server((stream, count) => {
      if (count <= 2) {
        stream.respond({ ":status": 429, "x-service-error-code": "rate_limit_exceeded", "retry-after": "7" });
        stream.end("{}");
        return;
      }
      streamed(stream, 50, 20);
      const breaks = [() => stream.destroy(), () => stream.destroy(new Error("broken")), () => cutAll()];
      setTimeout(() => breaks[count - 3]?.(), 70);
    });
    cutAll = server.cutAll;
    const arrivals = { kind: "closed", inFlight: 1, requests: 5, rampS: 0 } as const;
    const { run: done, phase, samples } = await run(server.url, { arrivals });
    expect(phase).toMatchObject({ sent: 5, denied: 2, failed: 3, admitted: 0 });
    const [exchange] = samples.map((sample) => sample.exchange.id);
    expect(phase?.denials).toEqual([
      { reason: "rate_limit_exceeded", dialect: "chat", stream: true, count: 2, exchange },
    ]);
    expect(done.retryAfter?.groups[0]).toMatchObject({ denials: 2, usable: 2, retryAfterWaitMs: { p50: 7_000 } });
    expect(phase?.failures.map(({ what, count }) => [what, count])).toEqual([["cut stream", 3]]);
  });

  test("no request is lost when a server closes its sessions", async () => {
    await using server = await http2Server((stream, count) => {
      streamed(stream, 2, 10);
      // Running streams may finish; new ones use another connection.
      if (count % 10 === 0) stream.session?.close();
    });
    const arrivals = { kind: "closed", inFlight: 6, requests: 60, rampS: 0 } as const;
    const { phase } = await run(server.url, { arrivals });
    expect(phase).toMatchObject({ admitted: 60, failed: 0 });
    expect(server.seen.sessions).toBeGreaterThan(4);
    expect(phase?.connections).toBe(server.seen.sessions);
  });

  test("a silent response times out, and the connection stays in use", async () => {
    await using server = await http2Server((stream, count) => {
      if (count > 1) return streamed(stream, 1, 5);
      stream.respond({ ":status": 200, "content-type": "text/event-stream" });
      stream.write(event({ content: "t" }));
    });
    const target = { kind: "closed", inFlight: 1, requests: 3, rampS: 0 } as const;
    const { phase } = await run(server.url, { arrivals: target }, 3);
    expect(phase).toMatchObject({ sent: 3, admitted: 2, failed: 1, connections: 1 });
    expect(phase?.failures.map(({ what }) => what)).toEqual(["idle-timeout"]);
  });

  test("if nothing listens, that is reported and nothing is judged", async () => {
    const server = await http2Server(() => undefined);
    await server[Symbol.asyncDispose]();
    const { phase } = await run(server.url, {});
    expect(phase).toMatchObject({ verdict: "inconclusive", admitted: 0, failed: 8 });
    expect(phase?.message).toContain("ECONNREFUSED");
  });
});
