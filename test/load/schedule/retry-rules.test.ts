import { describe, expect, test } from "vitest";
import { seededRandom } from "../../../src/core/index.ts";
import { retryAfterMs } from "../../../src/dialects/index.ts";
import type { LoadExchange, PreparedRequest } from "../../../src/http/load-client/load-exchange.ts";
import { Sender } from "../../../src/http/load-client/sender.ts";
import type { Observation } from "../../../src/judging/index.ts";
import { type ClientsOptions, runClients } from "../../../src/load/schedule/compliant-clients.ts";
import { Parallelism } from "../../../src/load/schedule/parallelism.ts";
import { DEFAULT_RETRY, decideRetry } from "../../../src/load/schedule/retry-rules.ts";
import { outcomeOf } from "../../../src/load/send/outcome.ts";
import { reasonReader } from "../../../src/load/send/read-reason.ts";
import { observationOf } from "../../../src/load/tier/observations.ts";
import { rawServer, response } from "../../support/raw-server.ts";

const read = reasonReader({
  headers: { reason: "X-Service-Error-Code", action: "X-Service-Action", version: "v", versionValue: "2023-06-01" },
  contract: {},
});

const REPLY = response('{"choices":[{"message":{"role":"assistant","content":"hi"}}]}');

function denial(status: string, reason: string, headers = ""): string {
  return response("{}", { status, headers: `X-Service-Error-Code: ${reason}\r\n${headers}` });
}

type Seen = Observation & { readonly received: LoadExchange; readonly text: string };

/** Clients of the harness against a server that sends the next of the given responses to each request. */
async function clientsAgainst(
  replies: readonly (string | undefined)[],
  options: Partial<ClientsOptions<Seen>> & { stream?: boolean; deadlineMs?: number } = {},
) {
  await using server = await rawServer((socket, _request, count) => {
    const text = replies[Math.min(count, replies.length) - 1];
    if (text === undefined) return;
    socket.write(text);
    if (text.includes("transfer-encoding") && !text.endsWith("0\r\n\r\n")) socket.end();
  });
  await using sender = new Sender({
    url: `${server.origin}/v1`,
    maxConnections: 16,
    deadlineMs: options.deadlineMs ?? 10_000,
  });
  const body = '{"model":"m","messages":[]}';
  const prepared: PreparedRequest = {
    url: "http://127.0.0.1:1/v1/chat/completions",
    dialect: "chat",
    stream: options.stream ?? false,
    key: "valid",
    capture: true,
    bytes: Buffer.from(
      `POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    ),
  };
  const outcome = await runClients<Seen>({
    clients: 1,
    retryAfter: "compliant",
    random: seededRandom(1),
    signal: new AbortController().signal,
    retry: { ...DEFAULT_RETRY, baseMs: 20, maxBackoffMs: 100, maxAttempts: 4 },
    attempt: () =>
      new Promise((resolve) => {
        sender.send(prepared, performance.now() * 1_000, (exchange) => {
          const { retryAfter } = exchange;
          const observation = observationOf(exchange, outcomeOf(exchange, read), {
            ...{ phase: "clients", role: "fleet", exchange: undefined, flaw: undefined },
            retryAfter,
            retryAfterWaitMs: retryAfterMs(retryAfter ?? "", Date.now()),
          });
          const text = Buffer.concat(exchange.pieces.map(({ bytes }) => bytes)).toString();
          resolve({ ...observation, received: exchange, text });
        });
      }),
    ...options,
  });
  return { outcome, requests: server.requests.length };
}

describe("the harness's own clients follow the retry rules", () => {
  test.each(["rate_limit_exceeded", "concurrency_limit_exceeded"])(
    "RETRY-1, RETRY-14: after %s it waits as long as Retry-After states, not less and not much longer",
    async (reason) => {
      const { outcome } = await clientsAgainst([denial("429 x", reason, "Retry-After: 1\r\n"), REPLY]);
      expect(outcome).toMatchObject({ served: 1, retries: 1, earlySends: 0, forbiddenRetries: 0 });
      const [first, second] = outcome.attempts[0] ?? [];
      const waitedUs = (second?.sentUs ?? 0) - (first?.endUs ?? 0);
      expect(waitedUs).toBeGreaterThanOrEqual(1_000_000);
      expect(waitedUs).toBeLessThan(12_000_000);
    },
  );

  test("RETRY-2: without a usable Retry-After it backs off, and stops after its attempts", async () => {
    const { outcome, requests } = await clientsAgainst([
      denial("429 x", "rate_limit_exceeded", "Retry-After: soon\r\n"),
    ]);
    expect(outcome).toMatchObject({ served: 0, aborted: 1, retries: 3, earlySends: 0, forbiddenRetries: 0 });
    expect(requests).toBe(4);
    const requested = { retry: "retry-after", reason: undefined, retryAfterMs: undefined } as const;
    const waits = (seed: number) =>
      [1, 2, 3].map((attempts) => {
        const decision = decideRetry({ ...requested, attempts }, seededRandom(seed));
        return decision.kind === "wait" ? decision.ms : -1;
      });
    // Exponential: each wait is in the upper half of 500, 1,000, 2,000 ms. Jittered: seeds differ.
    for (const seed of [1, 2, 3, 4])
      for (const [index, wait] of waits(seed).entries()) {
        expect(wait).toBeGreaterThanOrEqual(250 * 2 ** index);
        expect(wait).toBeLessThanOrEqual(500 * 2 ** index);
      }
    expect(waits(1)).not.toEqual(waits(2));
  });

  test.each([
    ["RETRY-3", "401 x", "invalid_api_key"],
    ["RETRY-3", "401 x", "key_revoked"],
    ["RETRY-4", "402 x", "insufficient_credits"],
    ["RETRY-4", "402 x", "quota_exceeded"],
    ["RETRY-5", "429 x", "budget_exhausted"],
    ["RETRY-10", "404 x", "model_not_found"],
  ])("%s: one attempt on %s %s, whatever its Retry-After", async (_row, status, reason) => {
    const { outcome, requests } = await clientsAgainst([denial(status, reason, "Retry-After: 0\r\n"), REPLY]);
    expect(requests).toBe(1);
    expect(outcome).toMatchObject({ served: 0, aborted: 1, retries: 0, forbiddenRetries: 0 });
  });

  test("RETRY-6: each concurrency denial lowers the number in flight", async () => {
    const retryAfter = "Retry-After: 0\r\n";
    const denied = denial("429 x", "concurrency_limit_exceeded", retryAfter);
    const { outcome } = await clientsAgainst([denied, denied, denied, REPLY], { clients: 4, parallel: 4 });
    expect(outcome).toMatchObject({ served: 4, parallel: 1, earlySends: 0 });
  });

  test("RETRY-6: the number in flight rises again only later, by one for as many as were served", () => {
    let nowMs = 0;
    const parallelism = new Parallelism(4, () => nowMs);
    const serve = (count: number) => {
      for (let served = 0; served < count; served++) parallelism.served();
      return parallelism.allowed;
    };
    parallelism.denied();
    parallelism.denied();
    expect([parallelism.allowed, parallelism.lowest]).toEqual([2, 2]);
    nowMs = 900;
    expect(serve(10)).toBe(2);
    nowMs = 1_100;
    expect(serve(1)).toBe(3);
    expect(serve(2)).toBe(3);
    expect(serve(1)).toBe(4);
    expect(serve(20)).toBe(4);
    parallelism.denied();
    expect([serve(20), parallelism.lowest]).toEqual([3, 2]);
  });

  test("RETRY-7, RETRY-13: a time-out is uncertain and not repeated", async () => {
    const { outcome, requests } = await clientsAgainst([undefined, REPLY], { deadlineMs: 300 });
    expect(requests).toBe(1);
    expect(outcome).toMatchObject({ uncertain: 1, served: 0, retries: 0 });
  });

  test("RETRY-8: a retried stream is another generation, kept apart from what arrived before", async () => {
    const head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
    const chunk = (text: string, finish = "null") => {
      const data = `data: {"choices":[{"delta":{"content":"${text}"},"finish_reason":${finish}}]}\n\n`;
      return `${data.length.toString(16)}\r\n${data}\r\n`;
    };
    const whole = `${head}${chunk("second", '"stop"')}0\r\n\r\n`;
    const { outcome } = await clientsAgainst([`${head}${chunk("first")}`, whole], { stream: true });
    const attempts = outcome.attempts[0] ?? [];
    expect(outcome).toMatchObject({ served: 1, retries: 1 });
    expect(attempts.map(({ received }) => received.scanner?.contentEvents)).toEqual([1, 1]);
    expect(attempts[1]?.text).toContain("second");
    expect(attempts[1]?.text).not.toContain("first");
  });

  test("RETRY-9: server errors are retried a bounded number of times", async () => {
    const { outcome, requests } = await clientsAgainst([response("{}", { status: "503 x" })]);
    expect(requests).toBe(4);
    expect(outcome).toMatchObject({ served: 0, aborted: 1, retries: 3 });
  });

  test("RETRY-11: the numbers are options with documented defaults", () => {
    expect(DEFAULT_RETRY).toEqual({ maxAttempts: 6, baseMs: 500, maxBackoffMs: 30_000, longestRetryAfterMs: 120_000 });
    const denied = { retry: "retry-after", reason: "rate_limit_exceeded", retryAfterMs: 5_000, attempts: 2 } as const;
    const decide = (options: Partial<typeof DEFAULT_RETRY>) =>
      decideRetry(denied, seededRandom(1), { ...DEFAULT_RETRY, ...options }).kind;
    expect(decide({})).toBe("wait");
    expect(decide({ maxAttempts: 2 })).toBe("stop");
    expect(decide({ longestRetryAfterMs: 4_000 })).toBe("stop");
  });

  test("clients that ignore Retry-After are seen by the audit", async () => {
    const denied = denial("429 x", "rate_limit_exceeded", "Retry-After: 5\r\n");
    const { outcome } = await clientsAgainst([denied, denied, REPLY], { retryAfter: "ignoring" });
    expect(outcome.retries).toBe(2);
    expect(outcome.earlySends).toBe(2);
  });
});
