import type { IncomingMessage, ServerResponse } from "node:http";
import { expect, test } from "vitest";
import { conformTo, httpServer, targetOf } from "../support/judge.ts";

const LIST = JSON.stringify({ object: "list", data: [{ id: "plain", object: "model" }] });
const reply = (content: string) =>
  JSON.stringify({
    id: "c1",
    object: "chat.completion",
    created: 1,
    model: "plain",
    choices: [{ index: 0, message: { role: "assistant", content }, finish_reason: "stop" }],
    usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
  });
const chunk = (content: string) =>
  `data: ${JSON.stringify({ id: "c1", object: "chat.completion.chunk", created: 1, model: "plain", choices: [{ index: 0, delta: { content }, finish_reason: null }] })}\n\n`;

/** A small gateway of the chat dialect; requests that `own` handles are left to it. */
const gateway = (own: (request: IncomingMessage, body: string, response: ServerResponse) => boolean) =>
  httpServer((request, body, response) => {
    if (own(request, body, response)) return;
    response.setHeader("Content-Type", "application/json");
    response.end(request.method === "GET" ? LIST : reply("hello"));
  });

async function judgedAs(baseUrl: string, only: readonly string[]) {
  const results = await conformTo(targetOf(baseUrl, "dialects: [chat]\n"), { suites: [], only });
  return results.map(({ id, status, message, findings }) => ({
    id,
    status,
    message,
    judged: findings.filter(({ outcome }) => outcome === "met" || outcome === "broken").map(({ name }) => name),
  }));
}

test("HEAD without any response has no body to judge", async () => {
  await using server = await gateway((request, _body, response) => {
    if (request.method !== "HEAD") return false;
    response.destroy();
    return true;
  });
  const [head] = await judgedAs(server.baseUrl, ["robustness.head-options[head-models]"]);
  expect(head).toMatchObject({
    status: "inconclusive",
    message: expect.stringContaining("HTTP-HEAD: no response: reset"),
  });
  expect(head?.judged).toEqual(["HTTP-METHOD", "HTTP-HEAD"]);
});

test("a content coding is not the cause of responses that never arrive", async () => {
  await using server = await gateway((request, _body, response) => {
    if (!/br|deflate/.test(String(request.headers["accept-encoding"] ?? ""))) return false;
    response.destroy();
    return true;
  });
  const cases = await judgedAs(server.baseUrl, ["robustness.compression"]);
  const hung = cases.filter(({ status }) => status !== "pass" && status !== "not-applicable");
  expect(hung.length).toBeGreaterThan(0);
  for (const { status, message, judged } of hung) {
    expect([status, judged]).toEqual(["inconclusive", []]);
    expect(message).toContain("no response: reset");
  }
});

test("a list of sixteen thousand models is judged", async () => {
  const data = Array.from({ length: 16_000 }, (_, at) => ({ id: `vendor/model-${at}`, description: "x".repeat(300) }));
  const list = JSON.stringify({ object: "list", data: [{ id: "plain" }, ...data] });
  await using server = await gateway((request, _body, response) => {
    if (request.method !== "GET") return false;
    response.setHeader("Content-Type", "application/json").end(list);
    return true;
  });
  const lists = await judgedAs(server.baseUrl, ["models.list", "models.stable", "models.every-list"]);
  expect(lists.map(({ id, status }) => `${id} ${status}`)).toEqual([
    "models.list pass",
    "models.stable pass",
    "models.every-list pass",
  ]);
});

test("a list that is larger than Gauntlet records decides nothing", async () => {
  const start = `{"object":"list","data":[{"id":"plain"}`;
  const entries = `,{"id":"m","description":"${"x".repeat(64_000)}"}`;
  let lists = 0;
  await using server = await gateway((request, _body, response) => {
    // The first one looks for the models.
    if (request.method !== "GET" || ++lists === 1) return false;
    response.on("error", () => undefined).setHeader("Content-Type", "application/json");
    response.write(start);
    for (let count = 0; count < 700; count++) response.write(entries);
    response.end("]}");
    return true;
  });
  const [list] = await judgedAs(server.baseUrl, ["models.list"]);
  expect(list).toMatchObject({ status: "inconclusive", message: expect.stringContaining("longer than a run keeps") });
});

test("a stream that is larger than Gauntlet records decides nothing, in any check", async () => {
  const events = chunk("word ".repeat(200)).repeat(5_000);
  await using server = await gateway((_request, body, response) => {
    if (!body.includes('"stream":true')) return false;
    response.on("error", () => undefined).setHeader("Content-Type", "text/event-stream");
    response.end(`${events}data: [DONE]\n\n`);
    return true;
  });
  const only = [
    "streaming.ends[chat,short]",
    "service.replies[chat,streaming]",
    "robustness.stable-service",
    "robustness.framing",
  ];
  const results = await judgedAs(server.baseUrl, only);
  expect(results.filter(({ status }) => status === "fail" || status === "warn")).toEqual([]);
  expect(results.find(({ id }) => id.startsWith("streaming.ends"))).toMatchObject({ status: "inconclusive" });
});
