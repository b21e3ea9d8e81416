// real-time: sends load, and judges how much of it was served in time
import { writeFileSync } from "node:fs";
import type { Socket } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { judgeTotals } from "../../../src/load/analysis/judge-totals.ts";
import { DEFAULT_ALLOW } from "../../../src/load/workload/workload.ts";
import type { Outcome } from "../../../src/run/control/outcome.ts";
import type { RunControl } from "../../../src/run/control/run-control.ts";
import { readOrRecover } from "../../../src/run/record/index.ts";
import { K6 } from "../../k6/support/k6.ts";
import { gauntlet, temporaryFolder } from "../../support/gauntlet.ts";
import { inProcess } from "../../support/in-process.ts";
import { rawServer, response } from "../../support/raw-server.ts";
import { recordProblems } from "../../support/record-schema.ts";

const denied = (status: string, reason?: string, more = "") =>
  response('{"error":{"message":"no","type":"request_error","code":1}}', {
    status,
    headers: `Content-Type: application/json\r\n${reason === undefined ? "" : `X-Service-Error-Code: ${reason}\r\n`}${more}`,
  });

/** Gateways that admit nothing, each in a different way. */
const GATEWAYS: readonly (readonly [name: string, respond: (socket: Socket) => void])[] = [
  ["402 insufficient_credits", (socket) => void socket.write(denied("402 No", "insufficient_credits"))],
  ["404 model_not_found", (socket) => void socket.write(denied("404 No", "model_not_found"))],
  ["429 without a reason", (socket) => void socket.write(denied("429 No"))],
  ["429 budget_exhausted", (socket) => void socket.write(denied("429 No", "budget_exhausted"))],
  [
    "429 rate_limit_exceeded",
    (socket) => void socket.write(denied("429 No", "rate_limit_exceeded", "Retry-After: 1\r\n")),
  ],
  ["500", (socket) => void socket.write(denied("500 Oops"))],
  ["a closed connection", (socket) => void socket.end()],
  ["a reset", (socket) => void socket.resetAndDestroy()],
];

/** Workloads of every engine on this machine, with thresholds that allow any number of denials. */
const WORKLOADS: Readonly<Record<string, string>> = {
  autocannon:
    "name: w\nengine: autocannon\narrivals: { kind: closed, inFlight: 16, durationS: 3 }\nmix: [{ dialect: chat, maxTokens: 16 }]\nallow: { deniedShare: 1, failedShare: 1 }\n",
  "closed loop":
    "name: w\narrivals: { kind: closed, inFlight: 16, durationS: 3 }\nallow: { deniedShare: 1, failedShare: 1 }\n",
  "open loop":
    "name: w\narrivals: { kind: constant, ratePerS: 200, durationS: 3 }\nallow: { deniedShare: 1, failedShare: 1 }\n",
  compliant:
    "name: w\nretryAfter: compliant\narrivals: { kind: constant, ratePerS: 50, durationS: 2 }\nallow: { deniedShare: 1, failedShare: 1 }\n",
};

const KEY = "ck-nothing-0123456789abcdef";
beforeAll(() => void vi.stubEnv("K", KEY));
afterAll(() => void vi.unstubAllEnvs());

const { load: runLoad } = await import("../../../src/commands/load/run.ts");
const NO_OPTIONS = { json: true, brief: false, dryRun: false, instances: 1, workers: 0 } as const;

async function load(respond: Parameters<typeof rawServer>[0], workload: string, more = "") {
  await using server = await rawServer(respond);
  using folder = temporaryFolder();
  const file = (name: string) => join(folder.path, name);
  writeFileSync(file("w.yaml"), workload);
  writeFileSync(
    file("t.yaml"),
    `baseUrl: ${server.origin}/v1\nkeys: { valid: env:K }\nmodels: { chat: plain }\n${more}`,
  );
  const options = { ...NO_OPTIONS, what: [file("w.yaml")], target: file("t.yaml"), out: file("run"), k6: K6 };
  const ran = await inProcess((control) => runLoad(options, control));
  expect(recordProblems(file("run"))).toEqual([]);
  const record = readOrRecover(file("run"));
  return { ...ran, verdict: record.verdict.result, record, requests: server.requests.length };
}

describe.concurrent("a gateway that admits nothing never passes a load", () => {
  const cases = GATEWAYS.flatMap(([name, respond]) =>
    Object.entries(WORKLOADS).map(([kind, workload]) => [kind, name, respond, workload] as const),
  );
  test.each(cases)("%s: %s", async (_kind, _name, respond, workload) => {
    const { code, verdict } = await load(respond, workload);
    expect(["fail", "inconclusive"]).toContain(verdict);
    expect([1, 4]).toContain(code);
  });

  const unknownKey = denied("401 No", "invalid_api_key");
  test.each(Object.entries(WORKLOADS))(
    "%s: a key that it rejects is an error of the target file",
    async (_kind, workload) => {
      const { code, text, record } = await load((socket) => void socket.write(unknownKey), workload);
      expect(code).toBe(2);
      expect(text).toContain("t.yaml (keys.valid): the gateway rejects the key in keys.valid (401 invalid_api_key");
      expect(record.verdict).toMatchObject({
        result: "error",
        headline: expect.stringContaining("nothing was judged"),
      });
    },
  );

  test.each(Object.entries(WORKLOADS))(
    "%s: the load fails if the key is rejected only for chat requests",
    async (_kind, workload) => {
      const list = response('{"object":"list","data":[{"id":"plain","object":"model"}]}');
      const { code, verdict } = await load((socket, request) => {
        socket.write(request.startsWith("GET /v1/models ") && request.includes(KEY) ? list : unknownKey);
      }, workload);
      expect([code, verdict]).toEqual([1, "fail"]);
    },
  );

  test.each(Object.entries(WORKLOADS))("%s: the cause has one of the denials as evidence", async (_kind, workload) => {
    const { record } = await load((socket) => void socket.write(denied("429 No", "budget_exhausted")), workload);
    const causes = record.causes.filter(({ requirement }) => requirement === "ERR-429-RATE");
    expect(causes.map(({ exchange }) => exchange)).toEqual([expect.any(String)]);
  });

  test.each(Object.entries(WORKLOADS))("%s: refused from the start, it stops immediately", async (_kind, workload) => {
    const { requests } = await load((socket) => void socket.write(denied("404 No", "model_not_found")), workload);
    expect(requests).toBeGreaterThanOrEqual(16);
    // Twenty refusals, and those in flight.
    expect(requests).toBeLessThan(100);
  });
});

/** Gateways that receive every request, and where every request fails. */
const FAILING = GATEWAYS.filter(([name]) => ["500", "a closed connection", "a reset"].includes(name));
/** Too few requests for the circuit breaker to stop them early. */
const FORTY: Readonly<Record<string, string>> = {
  autocannon:
    "name: w\nengine: autocannon\narrivals: { kind: closed, inFlight: 4, durationS: 1 }\nmix: [{ dialect: chat, maxTokens: 16 }]\n",
  "closed loop": "name: w\narrivals: { kind: closed, inFlight: 4, requests: 40 }\n",
  "open loop": "name: w\narrivals: { kind: constant, ratePerS: 20, durationS: 2 }\n",
  "every failure allowed":
    "name: w\narrivals: { kind: constant, ratePerS: 20, durationS: 2 }\nallow: { deniedShare: 1, failedShare: 1 }\n",
  ...(K6 === undefined
    ? {}
    : { k6: "name: w\nengine: k6\narrivals: { kind: constant, ratePerS: 20, durationS: 2 }\n" }),
};

describe.concurrent("the load fails if every request fails, as it does if nearly all fail", () => {
  const cases = FAILING.flatMap(([name, respond]) =>
    Object.entries(FORTY).map(([kind, workload]) => [kind, name, respond, workload] as const),
  );
  test.each(cases)("%s: %s", { timeout: 60_000 }, async (_kind, _name, respond, workload) => {
    // Then a closed loop of one second sends no more than the others.
    const slowly = (socket: Socket) => void setTimeout(() => respond(socket), 100);
    const { code, verdict, text } = await load(slowly, workload);
    expect(verdict, text).toBe("fail");
    expect(text).toMatch(/requests: (\d\d) sent \([\s\S]* 0 of \1 admitted/);
    expect(code).toBe(1);
  });

  test("if no request reaches a gateway, nothing is decided", () => {
    const totals = {
      ...{ sent: 40, admitted: 0, denied: 0, failed: 40, invalid: 0, dropped: 0, denials: [], invalidReplies: [] },
      failures: [{ what: "unreachable", count: 40 }],
    };
    const judged = judgeTotals({ allow: DEFAULT_ALLOW, written: {} }, totals);
    expect(judged.map(({ name, outcome }) => [name, outcome])).toEqual([["load.admitted", "undecided"]]);
  });
});

const OPEN = WORKLOADS["open loop"] as string;
const [{ size }, { capacity }, { limits }] = await Promise.all([
  import("../../../src/commands/size/run.ts"),
  import("../../../src/commands/capacity/run.ts"),
  import("../../../src/commands/limits/run.ts"),
]);
const LEVELS = { objective: "failed < 1%", streams: false, from: 5, to: 10, stepS: 2, minutes: 1 };
type Command = (files: { readonly target: string; readonly workload: string }, control: RunControl) => Promise<Outcome>;
/** Commands other than `load` that could mistake denials for results. */
const COMMANDS: Readonly<Record<string, Command>> = {
  size: (files, control) =>
    size({ ...files, verify: true, account: "valid", seed: 1, ttftMs: 500, tokensPerS: 50, json: false }, control),
  capacity: ({ target }, control) => capacity({ target, account: "valid", ...LEVELS }, control),
  limits: ({ target }, control) => limits({ target, account: "valid", requests: 200, minutes: 1 }, control),
};

describe.concurrent("a gateway that admits nothing is not sized, measured or analysed", () => {
  const cases = GATEWAYS.flatMap(([gateway, respond]) =>
    Object.entries(COMMANDS).map(([name, command]) => [name, gateway, respond, command] as const),
  );
  test.each(cases)("%s: %s", { timeout: 120_000 }, async (name, _gateway, respond, command) => {
    await using server = await rawServer(respond);
    using folder = temporaryFolder();
    const [workload, target] = [join(folder.path, "w.yaml"), join(folder.path, "t.yaml")];
    writeFileSync(workload, OPEN);
    writeFileSync(
      target,
      `baseUrl: ${server.origin}/v1\nkeys: { valid: env:K }\nmodels: { chat: plain }\nlimits: { rpm: 60, inFlight: 4 }\n`,
    );
    const { code, text } = await inProcess((control) => command({ target, workload }, control));
    // A search for limits distinguishes a wrong key from a limit, and stops.
    expect(name === "limits" ? [1, 2, 3, 4] : [1, 3, 4], text).toContain(code);
  });
});

describe("what a plan announces is never exceeded", () => {
  const served = (socket: Socket) =>
    void socket.write(
      response('{"choices":[{"message":{"role":"assistant","content":"hi"}}],"usage":{"completion_tokens":1}}', {
        headers: "Content-Type: application/json\r\n",
      }),
    );
  /** Streams that are longer than requested. */
  const streamed = (socket: Socket) =>
    void socket.write(
      response(`${'data: {"choices":[{"index":0,"delta":{"content":"word "}}]}\n\n'.repeat(100)}data: [DONE]\n\n`, {
        headers: "Content-Type: text/event-stream\r\n",
      }),
    );

  test("replies that are longer than planned end at the target's token budget", async () => {
    const workload =
      "name: w\narrivals: { kind: constant, ratePerS: 200, durationS: 3 }\nmix: [{ dialect: chat, stream: true, maxTokens: 16 }]\n";
    const { code, verdict, requests } = await load(streamed, workload, "budget: { outputTokens: 10000 }\n");
    expect(verdict).toBe("inconclusive");
    expect(code).toBe(4);
    expect(requests).toBeGreaterThanOrEqual(100);
    expect(requests).toBeLessThan(300);
  });

  test.each(["autocannon", "closed loop"])("%s without a number of requests", async (kind) => {
    const workload = (WORKLOADS[kind] as string).replace("inFlight: 16, durationS: 3", "inFlight: 2, durationS: 3");
    const { requests, notices, code } = await load(served, workload);
    const planned = Number(/at most (\d+) requests/.exec(notices)?.[1]);
    expect(planned).toBe(600);
    expect(requests).toBeLessThanOrEqual(planned);
    expect([0, 4]).toContain(code);
  });

  test.each(["autocannon", "closed loop"])("%s that would exceed the target's budget is refused", async (kind) => {
    using folder = temporaryFolder();
    writeFileSync(join(folder.path, "w.yaml"), WORKLOADS[kind] as string);
    writeFileSync(
      join(folder.path, "t.yaml"),
      "baseUrl: http://127.0.0.1:9/v1\nkeys: { valid: env:K }\nmodels: { chat: plain }\nbudget: { requests: 100 }\n",
    );
    const { code, stderr } = await gauntlet(["load", "w.yaml", "--target", "t.yaml"], { K: "k" }, folder.path);
    expect(code).toBe(2);
    expect(stderr).toMatch(/the plan has 4,800 requests, the budget of the target is 100/);
  });
});
