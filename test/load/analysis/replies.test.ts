// real-time: sends load, and judges how much of it was served in time
import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { RequestBudget } from "../../../src/budget/index.ts";
import { closedLoopPeak } from "../../../src/engines/index.ts";
import { LoadExchange } from "../../../src/http/load-client/load-exchange.ts";
import { Redactor } from "../../../src/http/recorder/index.ts";
import { conclusionOf } from "../../../src/judging/index.ts";
import { DEFAULT_ALLOW, runPeak, runWorkload, type Workload } from "../../../src/load/index.ts";
import type { JudgedRun } from "../../../src/record/index.ts";
import { startGateway } from "../../../src/reference-gateway/index.ts";
import { describeEmbedded, type ReadyLine } from "../../../src/target/index.ts";

interface Reply {
  readonly body: string | Buffer;
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A gateway that sends the test's reply to the n-th request, from 0. */
async function serverOf(replyTo: (index: number) => Reply) {
  let count = 0;
  const server = createServer((request, response: ServerResponse) => {
    request.resume();
    request.on("end", () => {
      const { body, status = 200, headers = {} } = replyTo(count++);
      response.writeHead(status, { "content-type": "application/json", ...headers });
      response.end(body);
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

interface Sent {
  readonly stream?: boolean;
  readonly includeUsage?: boolean;
  readonly engine?: "native" | "autocannon";
  readonly allow?: Partial<Workload["allow"]>;
}

async function load(replyTo: (index: number) => Reply, { stream = false, includeUsage, engine, allow }: Sent = {}) {
  await using server = await serverOf(replyTo);
  await using gateway = await startGateway({});
  const { target } = describeEmbedded(gateway.ready as unknown as ReadyLine);
  const never = new AbortController().signal;
  const peak = engine === "autocannon";
  const workload: Workload = {
    name: "w",
    arrivals: peak
      ? { kind: "closed", inFlight: 4, durationS: 1 }
      : { kind: "closed", inFlight: 8, requests: 200, rampS: 0 },
    mix: [{ dialect: "chat", stream, model: "m", promptTokens: 5, maxTokens: 16, weight: 1, includeUsage }],
    warmupS: 0,
    engine: engine ?? "native",
    retryAfter: "none",
    allow: { ...DEFAULT_ALLOW, ...allow },
    written: null,
  };
  const context = {
    target: { ...target, baseUrl: server.baseUrl },
    budget: new RequestBudget(target.budget),
    keys: [target.keys.valid],
    seed: 3,
    stop: never,
    abort: never,
    redactor: new Redactor([]),
    onSample: () => undefined,
    calibration: null,
  };
  const { run } = await (peak ? runPeak(workload, context, closedLoopPeak) : runWorkload(workload, context));
  return run;
}

/** The verdict from the findings of the phase. A machine that is busy with other tests does not change it. */
const verdictOf = ({ phases: [phase] }: JudgedRun) => conclusionOf(phase?.findings ?? []).status;
const outcome = (run: JudgedRun) => ({
  verdict: verdictOf(run),
  admitted: run.phases[0]?.admitted,
  invalid: run.phases[0]?.invalidReplies.map(({ what, count }) => `${count} ${what}`),
});
const findingOf = (run: JudgedRun, name: string) => run.phases[0]?.findings.find((finding) => finding.name === name);

const json = (value: unknown): Reply => ({ body: JSON.stringify(value) });
const chat = (message: object, finish = "stop") =>
  json({ choices: [{ index: 0, message, finish_reason: finish }], usage: { completion_tokens: 3 } });
const SERVED = chat({ role: "assistant", content: "a reply" });
const events = (...items: unknown[]): Reply => ({
  body: items.map((item) => `data: ${typeof item === "string" ? item : JSON.stringify(item)}\n\n`).join(""),
  headers: { "content-type": "text/event-stream" },
});
const delta = (fields: object, finish: string | null = null) => ({
  choices: [{ index: 0, delta: fields, finish_reason: finish }],
});
const STREAM = [delta({ role: "assistant", content: "" }), delta({ content: "a" }), delta({}, "stop"), "[DONE]"];

describe("2xx replies that no client can use are invalid, and fail the load", () => {
  test.each<[what: string, Reply, streaming: boolean]>([
    ["HTML page", { body: "<!doctype html><h1>Welcome</h1>", headers: { "content-type": "text/html" } }, false],
    ["empty body", { body: "" }, false],
    ["JSON without a reply", { ...json({ status: "queued" }), status: 202 }, false],
    ["an error with a 2xx status", json({ error: { message: "overloaded" } }), false],
    ["empty text", chat({ role: "assistant", content: "" }), false],
    ["JSON without a reply", json({ choices: [] }), false],
    ["HTML page", { body: "<html></html>" }, true],
    ["a stream without a final event", events(...STREAM.slice(0, 2)), true],
    ["one JSON document instead of a stream", SERVED, true],
    ["a content coding that cannot be decoded", { ...SERVED, headers: { "content-encoding": "gzip" } }, false],
  ])("%s", async (what, reply, stream) => {
    const all = await load(() => reply, { stream });
    expect(outcome(all)).toEqual({ verdict: "fail", admitted: 0, invalid: [`200 ${what}`] });
    expect(all.phases[0]?.classes.map((one) => one.outcome)).toEqual(["invalid"]);
    const sound = stream ? events(...STREAM) : SERVED;
    // One reply in five, and all replies from a certain moment.
    const some = await load((index) => (index % 5 === 4 ? reply : sound), { stream });
    expect(outcome(some)).toEqual({ verdict: "fail", admitted: 160, invalid: [`40 ${what}`] });
    const later = await load((index) => (index >= 150 ? reply : sound), { stream });
    expect(outcome(later)).toEqual({ verdict: "fail", admitted: 150, invalid: [`50 ${what}`] });
    // The finding has an exchange, although the defect began late.
    if (!stream)
      expect(findingOf(later, what === "empty text" ? "load.empty" : "load.invalid")?.exchanges).not.toEqual([]);
  });

  test("a coded reply that decodes to more than 4 MiB is not checked, and decides nothing", async () => {
    const { body } = chat({ role: "assistant", content: "a".repeat(5 * 1024 * 1024) });
    const coded = { body: gzipSync(body), headers: { "content-encoding": "gzip" } };
    const run = await load((index) => (index === 7 ? coded : SERVED));
    expect(outcome(run)).toEqual({ verdict: "inconclusive", admitted: 199, invalid: ["1 larger than 4 MiB"] });
  });

  test("one in 200 is within the default bound and warns", async () => {
    const run = await load((index) => (index === 77 ? { body: "<html></html>" } : SERVED));
    expect(outcome(run)).toEqual({ verdict: "warn", admitted: 199, invalid: ["1 HTML page"] });
  });

  test("the workload decides how many are allowed", async () => {
    const tenth = (index: number) => (index % 10 === 9 ? chat({ content: "" }) : SERVED);
    expect(verdictOf(await load(tenth))).toBe("fail");
    expect(verdictOf(await load(tenth, { allow: { emptyShare: 0.2 } }))).toBe("warn");
    expect(verdictOf(await load(tenth, { allow: { invalidShare: 0.2 } }))).toBe("fail");
  });

  test("replies that autocannon receives are checked as well", async () => {
    const sound = await load(() => SERVED, { engine: "autocannon" });
    expect(sound.phases[0]?.invalidReplies).toEqual([]);
    const run = await load((index) => (index % 2 === 1 ? json({ choices: [] }) : SERVED), { engine: "autocannon" });
    expect(verdictOf(run)).toBe("fail");
    expect(run.phases[0]?.invalidReplies).toMatchObject([{ what: "JSON without a reply" }]);
  });

  test("requested usage that is missing", async () => {
    const without = await load(() => events(...STREAM), { stream: true, includeUsage: true });
    expect(outcome(without).invalid).toEqual(["200 no usage although it was requested"]);
    const usage = { choices: [], usage: { completion_tokens: 1 } };
    const withUsage = await load(() => events(...STREAM.slice(0, -1), usage, "[DONE]"), {
      stream: true,
      includeUsage: true,
    });
    expect(outcome(withUsage)).toEqual({ verdict: "pass", admitted: 200, invalid: [] });
  });
});

describe("unusual 2xx replies are usable", () => {
  const call = { index: 0, id: "c", type: "function", function: { name: "f", arguments: "{}" } };
  test.each<[what: string, Reply, streaming: boolean]>([
    ["tool calls with null content", chat({ content: null, tool_calls: [call] }, "tool_calls"), false],
    ["a declared refusal", chat({ content: null, refusal: "I cannot help with that." }), false],
    ["a content filter", chat({ content: "" }, "content_filter"), false],
    ["an empty text because max_tokens was reached", chat({ content: "" }, "length"), false],
    ["an empty text after reasoning", chat({ content: "", reasoning_content: "hm" }), false],
    ["several choices", json({ choices: ["", "b"].map((content, index) => ({ index, message: { content } })) }), false],
    ["a compressed reply", { body: gzipSync(SERVED.body as string), headers: { "content-encoding": "gzip" } }, false],
    [
      "a compressed stream",
      { body: gzipSync(events(...STREAM).body as string), headers: { "content-encoding": "gzip" } },
      true,
    ],
    ["usage in a chunk without choices", events(...STREAM.slice(0, 3), { choices: [], usage: {} }, "[DONE]"), true],
    ["Azure's first chunk", events({ choices: [], id: "", prompt_filter_results: [{}] }, ...STREAM), true],
    ["a streamed tool call", events(delta({ tool_calls: [call] }), delta({}, "tool_calls"), "[DONE]"), true],
    ["a streamed refusal", events(delta({ refusal: "no" }), delta({}, "stop"), "[DONE]"), true],
    ["no usage if none was requested", events(...STREAM), true],
    [
      "several streamed choices",
      events(delta({ content: "" }), { choices: [{ index: 1, delta: { content: "b" } }] }, ...STREAM.slice(2)),
      true,
    ],
  ])("%s", async (_what, reply, stream) => {
    expect(outcome(await load(() => reply, { stream }))).toEqual({ verdict: "pass", admitted: 200, invalid: [] });
  });

  test("one empty text in a hundred is counted but does not fail", async () => {
    const run = await load((index) => (index % 100 === 50 ? chat({ content: "" }) : SERVED));
    expect(outcome(run)).toEqual({ verdict: "warn", admitted: 198, invalid: ["2 empty text"] });
  });
});

test.each([
  ['{"object":"list","data":[{"id":"m"}]}', undefined],
  ['{"data":[]}', undefined],
  ["<html></html>", "JSON without a reply"],
])("a request for the model list takes a list: %s", (body, defect) => {
  const prepared = {
    url: "http://127.0.0.1:1/v1/chat/completions",
    dialect: "chat",
    stream: false,
    bytes: Buffer.alloc(0),
    key: "key.valid",
    capture: false,
  } as const;
  const exchange = new LoadExchange({ ...prepared, isListing: true }, 0, 0);
  exchange.onHead(200, "HTTP/1.1 200 OK\r\n");
  exchange.onBody(Buffer.from(body), 0, body.length);
  exchange.onEnd(true);
  expect(exchange.defect).toBe(defect);
});

describe("output in any field", () => {
  test.each([
    ["reasoning_content", { reasoning_content: "hm" }],
    ["reasoning_details", { reasoning_details: [{ type: "reasoning.text", text: "hm" }] }],
    ["thinking parts", { content: [{ type: "thinking", thinking: [{ type: "text", text: "hm" }] }] }],
    ["thinking", { thinking: "hm" }],
    ["refusal", { refusal: "no" }],
    ["audio", { audio: { data: "UklGRg" } }],
    ["function_call", { function_call: { name: "f", arguments: "{" } }],
    ["an unknown field", { mystery: "hm" }],
  ])("%s is the first token", async (what, fields) => {
    const items = [delta({ role: "assistant", content: "" }), delta(fields), delta(fields), ...STREAM.slice(2)];
    const run = await load(() => events(...items), { stream: true });
    const [phase] = run.phases;
    expect(phase?.classes[0]).toMatchObject({ outcome: "admitted", ttftMs: expect.anything() });
    expect(phase?.classes[0]?.textTtftMs).toBeNull();
    expect(phase?.unknownFields).toEqual(what === "an unknown field" ? [{ name: "mystery", streams: 200 }] : []);
  });

  test("the first token of the text is a separate metric if other output precedes it", async () => {
    const items = [delta({ reasoning_content: "hm" }), ...STREAM];
    const reasoned = await load(() => events(...items), { stream: true });
    expect(reasoned.phases[0]?.classes[0]?.textTtftMs).not.toBeNull();
    const plain = await load(() => events(...STREAM), { stream: true });
    expect(plain.phases[0]?.classes[0]).toMatchObject({ textTtftMs: null, itlMs: null });
  });

  test.each([
    ["an object", { object: "error", message: "no" }],
    ["a detail", { detail: "no" }],
    ["errors", { errors: [{ title: "no" }] }],
    ["a code", { code: 503, msg: "no" }],
    ["a finish reason", delta({}, "error")],
    ["plain text", "upstream connect error"],
  ])("an error in a stream (%s) is not an admitted request", async (_what, item) => {
    const run = await load(() => events(...STREAM.slice(0, 2), item, "[DONE]"), { stream: true });
    expect(run.phases[0]).toMatchObject({ admitted: 0, failed: 200, failures: [{ what: "error in the stream" }] });
    expect(verdictOf(run)).toBe("fail");
  });
});
