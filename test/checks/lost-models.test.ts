// real-time: checks fill the limits of a minute and wait for Retry-After
import type { ServerResponse } from "node:http";
import { expect, test } from "vitest";
import { runChecks, select, Traffic } from "../../src/checks/index.ts";
import { prepare } from "../../src/run/preflight/preflight.ts";
import { CHECKS } from "../../suites/index.ts";
import { ampleBudget, conformTo, httpServer, targetOf } from "../support/judge.ts";

const json = (response: ServerResponse, status: number, body: object, headers: Record<string, string> = {}) => {
  response.writeHead(status, { "Content-Type": "application/json", ...headers });
  response.end(JSON.stringify(body));
};
const noSuchModel = (response: ServerResponse) =>
  json(
    response,
    404,
    { error: { message: "no such model", type: "not_found_error", code: "model_not_found" } },
    { "X-Service-Error-Code": "model_not_found", "X-Service-Action": "check_model" },
  );
const reply = (response: ServerResponse, path: string, text: string) =>
  json(
    response,
    200,
    path.endsWith("/messages")
      ? { id: "msg_1", type: "message", role: "assistant", model: "m", content: [{ type: "text", text }] }
      : { id: "c1", object: "chat.completion", model: "m", choices: [{ index: 0, message: { content: text } }] },
  );

/** A gateway with a list, whose models are known by their endpoint. */
const gateway = (list: readonly string[], knows: (path: string, model: string) => boolean) =>
  httpServer((request, body, response) => {
    const path = request.url ?? "";
    if (path.endsWith("/models")) return json(response, 200, { object: "list", data: list.map((id) => ({ id })) });
    const model = /"model":"([^"]*)"/.exec(body)?.[1] ?? "";
    return knows(path, model) ? reply(response, path, "Hello there.") : noSuchModel(response);
  });

const CHOSEN = { only: ["models.listed-ids-work", "chat.minimal", "messages.minimal", "robustness.keeps-serving"] };

test("a model of one dialect is not lost if the other dialect does not know it", { timeout: 60_000 }, async () => {
  const own = (path: string, model: string) => model === (path.endsWith("/messages") ? "talk-b" : "talk-a");
  await using server = await gateway(["talk-a", "talk-b"], own);
  const target = targetOf(server.baseUrl);
  const models = { ...target.models, chat: { plain: "talk-a" }, messages: { plain: "talk-b" } };
  const results = await conformTo({ ...target, models }, CHOSEN);
  const bad = results.filter(({ id, status }) => status !== "pass" && /listed-ids|keeps-serving/.test(id));
  expect(bad.map(({ id, status, message }) => `${id} ${status}: ${message}`)).toEqual([]);
  expect(results.filter(({ status }) => status === "blocked")).toEqual([]);
});

test("a missing endpoint does not count as a lost model", { timeout: 60_000 }, async () => {
  await using server = await gateway(["talk-a"], (path, model) => model === "talk-a" && !path.endsWith("/messages"));
  const { models: _, ...target } = targetOf(server.baseUrl);
  const results = await conformTo({ ...target, models: { chat: {}, messages: {} } }, CHOSEN);
  const statusesOf = (prefix: string) => [
    ...new Set(results.filter(({ id }) => id.startsWith(prefix)).map(({ status }) => status)),
  ];
  expect(statusesOf("chat.minimal")).not.toContain("blocked");
  expect(statusesOf("messages.minimal")).toContain("fail");
});

test("a pause that only unusual requests meet is not held against them", { timeout: 60_000 }, async () => {
  let pausedUntilMs: number | undefined;
  await using server = await httpServer((request, _body, response) => {
    const path = request.url ?? "";
    if (path.endsWith("/models")) return json(response, 200, { object: "list", data: [{ id: "plain" }] });
    const isUnusual = request.headers.authorization?.startsWith("bearer") === true;
    if (isUnusual) pausedUntilMs ??= performance.now() + 1_200;
    if (performance.now() >= (pausedUntilMs ?? 0)) return reply(response, path, "Hello there.");
    return json(response, 503, { error: { message: "the provider is away", type: "api_error", code: "away" } });
  });
  const results = await conformTo(targetOf(server.baseUrl), { only: ["robustness.scheme-case"] });
  expect(results.map(({ id, status, message }) => `${id} ${status}: ${message}`)).toEqual(
    results.map(({ id }) => expect.stringMatching(new RegExp(`^${id.replace(/[[\]]/g, ".")} pass`))),
  );
  expect(pausedUntilMs).toBeDefined();
});

test("what stops the sending while fixtures are tried ends the checks, not the run", {
  timeout: 60_000,
}, async () => {
  await using server = await gateway(["talk-a", "echo"], () => true);
  const target = targetOf(server.baseUrl);
  const roles = { plain: "talk-a", echo: "echo" };
  const interrupt = new AbortController();
  await using traffic = new Traffic({
    target: { ...target, models: { chat: roles, messages: roles } },
    budget: ampleBudget(),
    seed: 1,
    signal: interrupt.signal,
    // The model does not repeat its prompt: otherwise another request would follow.
    onResponse: ({ exchange }) => {
      if (exchange.request.body?.includes("one two three four five") === true) interrupt.abort();
    },
  });
  await prepare(traffic);
  const instances = select(CHECKS, { only: ["robustness.text"] });
  const results = await runChecks({ instances, traffic });
  expect(results.length).toBe(instances.length);
  expect(results.map(({ status, message }) => `${status}: ${message}`)).toContain(
    "inconclusive: the run ended before this check",
  );
});
