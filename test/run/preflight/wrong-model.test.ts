// real-time: sends load, and judges how much of it was served in time
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { readOrRecover } from "../../../src/run/record/index.ts";
import { gauntlet, temporaryFolder } from "../../support/gauntlet.ts";
import { httpServer } from "../../support/judge.ts";

const JSON_TYPE = { "Content-Type": "application/json" };
const CHAT = {
  choices: [{ index: 0, message: { role: "assistant", content: "hi" }, finish_reason: "stop" }],
  usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
};
const MESSAGES = {
  role: "assistant",
  content: [{ type: "text", text: "hi" }],
  usage: { input_tokens: 1, output_tokens: 1 },
};

/** A gateway that lists some models and serves others; it rejects the rest with 404 `model_not_found`. */
function gateway({ listed, served }: { readonly listed: readonly string[]; readonly served: readonly string[] }) {
  return httpServer((request, body, response) => {
    const path = request.url ?? "";
    if (path.endsWith("/models"))
      return response.writeHead(200, JSON_TYPE).end(JSON.stringify({ data: listed.map((id) => ({ id })) }));
    if (served.includes(JSON.parse(body).model)) {
      const reply = path.endsWith("/messages") ? MESSAGES : CHAT;
      return response.writeHead(200, JSON_TYPE).end(JSON.stringify(reply));
    }
    const error = { message: "no such model", type: "invalid_request_error" };
    return response
      .writeHead(404, { ...JSON_TYPE, "X-Service-Error-Code": "model_not_found" })
      .end(JSON.stringify({ error }));
  });
}

/** A short run against it. */
async function run(baseUrl: string, models: string, args = ["conform", "--only", "models.list"]) {
  using folder = temporaryFolder();
  writeFileSync(join(folder.path, "t.yaml"), `baseUrl: ${baseUrl}\nkeys: { valid: env:K }\n${models}\n`);
  return await gauntlet([...args, "--target", "t.yaml"], { K: "ck-valid-0123456789abcdef" }, folder.path);
}

describe("a model in the target file", () => {
  test.each([
    ["chat", "models: { chat: sonnte, messages: sonnet }"],
    ["messages", "models: { chat: sonnet, messages: sonnte }"],
  ])("that the gateway neither lists nor serves is a mistake in the file (%s)", async (dialect, models) => {
    await using server = await gateway({ listed: ["haiku", "sonnet"], served: ["haiku", "sonnet"] });
    const { stderr, code } = await run(server.baseUrl, models);
    expect(stderr).toContain(
      `t.yaml (models.${dialect}): the gateway neither lists nor serves "sonnte" (404 model_not_found). Did you mean "sonnet"?`,
    );
    expect(code).toBe(2);
  });

  test("that is served but not listed is used, with a note: the list may be wrong", async () => {
    await using server = await gateway({ listed: ["haiku"], served: ["haiku", "sonnet"] });
    const { stderr, code } = await run(server.baseUrl, "models: { chat: sonnet }");
    expect(stderr).toContain('models.chat is "sonnet", which is not in the model list');
    expect(code).not.toBe(2);
  });

  test("is not blamed if the gateway does not serve what it lists either", async () => {
    await using server = await gateway({ listed: ["haiku"], served: [] });
    const { stderr, code } = await run(server.baseUrl, "models: { chat: sonnet }");
    expect(stderr).not.toContain("neither lists nor serves");
    expect(code).not.toBe(2);
  });
});

describe("load", { timeout: 60_000 }, () => {
  const sonnet = { listed: ["haiku", "sonnet"], served: ["haiku", "sonnet"] };
  const FEW = "{ kind: constant, ratePerS: 20, durationS: 1 }";

  async function load(
    models: string,
    workload: string,
    gatewayModels: { listed: string[]; served: string[] } = sonnet,
  ) {
    await using server = await gateway(gatewayModels);
    using folder = temporaryFolder();
    writeFileSync(join(folder.path, "t.yaml"), `baseUrl: ${server.baseUrl}\nkeys: { valid: env:K }\n${models}\n`);
    writeFileSync(join(folder.path, "w.yaml"), `name: w\n${workload}\n`);
    const args = ["load", "w.yaml", "--target", "t.yaml", "--out", "run"];
    const ran = await gauntlet(args, { K: "ck-valid-0123456789abcdef" }, folder.path);
    return { ...ran, record: readOrRecover(join(folder.path, "run")) };
  }

  test("reports a misspelt model in the target file as an error in that file", async () => {
    const { stderr, stdout, code, record } = await load("models: { chat: sonnte }", `arrivals: ${FEW}`);
    expect(stderr).toContain(
      't.yaml (models.chat): the gateway neither lists nor serves "sonnte" (404 model_not_found). Did you mean "sonnet"?',
    );
    expect(stdout).not.toContain("FAIL");
    expect([code, record.verdict.result]).toEqual([2, "error"]);
  });

  test("reports a misspelt model in the workload as an error in that file", async () => {
    const { stderr, code } = await load(
      "models: { chat: sonnet }",
      `arrivals: ${FEW}\nmix: [{ dialect: chat, model: haikku }]`,
    );
    expect(stderr).toContain('w.yaml (mix.0.model): the gateway neither lists nor serves "haikku"');
    expect(code).toBe(2);
  });

  test("fails if the gateway refuses a model that it lists", async () => {
    const lists = { listed: ["haiku", "sonnet"], served: ["haiku"] };
    const { record, code } = await load("models: { chat: sonnet }", `arrivals: ${FEW}`, lists);
    expect([code, record.verdict.result]).toEqual([1, "fail"]);
  });
});

test("load that needs the model list says when baseUrl is not that of a gateway", async () => {
  await using server = await httpServer((_request, _body, response) => response.writeHead(404).end("not here"));
  const { stderr, code } = await run(server.baseUrl, "limits: starter", ["load", "starter"]);
  expect(stderr).toContain("does not look like a model gateway");
  expect(code).toBe(2);
});

test("load under a wrong path, which rejects every request, is a mistake in baseUrl", { timeout: 60_000 }, async () => {
  await using server = await httpServer((_request, _body, response) =>
    response.writeHead(404, JSON_TYPE).end('{"error":{"code":"not_found","message":"There is nothing at this path."}}'),
  );
  using folder = temporaryFolder();
  writeFileSync(join(folder.path, "w.yaml"), "name: w\narrivals: { kind: constant, ratePerS: 20, durationS: 1 }\n");
  const target = `baseUrl: ${server.baseUrl}\nkeys: { valid: env:K }\nmodels: { chat: sonnet }\n`;
  writeFileSync(join(folder.path, "t.yaml"), target);
  const args = ["load", "w.yaml", "--target", "t.yaml", "--out", "run"];
  const { stderr, stdout, code } = await gauntlet(args, { K: "ck-valid-0123456789abcdef" }, folder.path);
  expect(stderr).toContain("t.yaml (baseUrl): ");
  expect(stderr).toContain("does not look like a model gateway");
  expect(stdout).not.toContain("FAIL");
  expect(code).toBe(2);
});
