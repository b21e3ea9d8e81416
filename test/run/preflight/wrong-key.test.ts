// real-time: sends load, and judges how much of it was served in time
import { writeFileSync } from "node:fs";
import type { IncomingMessage, ServerResponse } from "node:http";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { readRun } from "../../../src/record/index.ts";
import { gauntlet, temporaryFolder } from "../../support/gauntlet.ts";
import { httpServer } from "../../support/judge.ts";

const KEY = "ck-wrong-0123456789abcdef";

type Kind = "list" | "chat" | "messages";
/** How a gateway treats a request: served, or rejected with a status. */
type Decide = (kind: Kind, key: string | undefined) => 200 | 401 | 403;

const JSON_TYPE = { "Content-Type": "application/json" };
const REPLIES: Readonly<Record<Kind, unknown>> = {
  list: { object: "list", data: [{ id: "plain" }] },
  chat: {
    choices: [{ index: 0, message: { role: "assistant", content: "hi" }, finish_reason: "stop" }],
    usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
  },
  messages: {
    role: "assistant",
    content: [{ type: "text", text: "hi" }],
    usage: { input_tokens: 1, output_tokens: 1 },
  },
};

async function gateway(decide: Decide) {
  let requests = 0;
  const server = await httpServer((request: IncomingMessage, _body, response: ServerResponse) => {
    requests++;
    const path = request.url ?? "";
    const kind = path.endsWith("/models") ? "list" : path.endsWith("/messages") ? "messages" : "chat";
    const status = decide(kind, /^Bearer (.+)$/.exec(request.headers.authorization ?? "")?.[1]);
    if (status === 200) return response.writeHead(200, JSON_TYPE).end(JSON.stringify(REPLIES[kind]));
    const error = { message: "Incorrect API key provided", type: "authentication_error", code: status };
    return response
      .writeHead(status, { ...JSON_TYPE, "X-Service-Error-Code": "invalid_api_key" })
      .end(JSON.stringify({ error }));
  });
  return { ...server, sent: () => requests };
}

const MODELS = "models: { chat: plain, messages: plain }\n";

async function run(baseUrl: string, args: readonly string[], keys = "{ valid: env:K }", models = MODELS) {
  using folder = temporaryFolder();
  writeFileSync(
    join(folder.path, "t.yaml"),
    `baseUrl: ${baseUrl}\nkeys: ${keys}\n${models}limits: { rpm: 6000, inFlight: 64 }\n`,
  );
  writeFileSync(join(folder.path, "w.yaml"), "name: w\narrivals: { kind: constant, ratePerS: 20, durationS: 2 }\n");
  writeFileSync(join(folder.path, "few.yaml"), "name: few\narrivals: { kind: closed, inFlight: 1, requests: 15 }\n");
  return await gauntlet(
    args,
    { K: KEY, K2: "ck-second-0123456789abcdef", K3: "ck-empty-0123456789abcdef" },
    folder.path,
  );
}

/** Commands that send checks. Load finds out during the run, because one more request would be too many at a limit. */
const COMMANDS: Readonly<Record<string, readonly string[]>> = {
  conform: ["conform", "--target", "t.yaml"],
  run: ["run", "--target", "t.yaml"],
  limits: ["limits", "--budget-requests", "200", "--minutes", "1", "--target", "t.yaml"],
  compare: ["compare", "--a", "t.yaml", "--b", "t.yaml"],
};

describe("a gateway that rejects the key is not judged and not measured", () => {
  test.each(Object.entries(COMMANDS))("%s", { timeout: 60_000 }, async (_name, args) => {
    await using server = await gateway(() => 401);
    const { code, stdout, stderr } = await run(server.baseUrl, args);
    expect(stderr + stdout).toContain(
      'the gateway rejects the key in keys.valid (401 invalid_api_key: "Incorrect API key provided")',
    );
    expect(stdout + stderr).not.toContain("FAIL");
    expect(code).toBe(2);
    // A search for limits begins with a burst, so the account must be quiet before it.
    expect(server.sent()).toBeLessThan(args[0] === "limits" ? 30 : 8);
  });

  test("doctor blames the key, not the models", async () => {
    await using server = await gateway(() => 401);
    const { stdout } = await run(server.baseUrl, ["doctor", "--target", "t.yaml"]);
    expect(stdout).toContain("Check the variable or file that keys.valid names");
    expect(stdout).not.toContain("Name a model");
  });

  test("load that needs the model list blames the key, not the models", async () => {
    await using server = await gateway(() => 401);
    const { code, stderr } = await run(
      server.baseUrl,
      ["load", "w.yaml", "--target", "t.yaml"],
      "{ valid: env:K }",
      "",
    );
    expect(stderr).toContain("the gateway rejects the key in keys.valid (401 invalid_api_key");
    expect(code).toBe(2);
  });

  test("with 403, and a list that needs no key", async () => {
    await using server = await gateway((kind) => (kind === "list" ? 200 : 403));
    const { code, stderr } = await run(server.baseUrl, ["conform", "models", "--target", "t.yaml"]);
    expect(stderr).toContain("the gateway rejects the key in keys.valid (403 invalid_api_key");
    expect(code).toBe(2);
  });
});

test("load: a key that is always rejected is an error in the target file", { timeout: 60_000 }, async () => {
  await using server = await gateway(() => 401);
  const { code, stderr } = await run(server.baseUrl, ["load", "few.yaml", "--target", "t.yaml"]);
  expect(stderr).toContain("t.yaml (keys.valid): the gateway rejects the key in keys.valid (401 invalid_api_key");
  expect(stderr).toContain("every request was rejected: checking the base URL, keys and models, at most 50 requests");
  expect(code).toBe(2);
  // Fifteen of the load, and those that find out about the key.
  expect(server.sent()).toBeLessThan(25);
});

describe("a gateway that rejects a valid key in some places is judged", () => {
  const somewhere: readonly (readonly [string, Decide])[] = [
    ["for the list", (kind) => (kind === "list" ? 401 : 200)],
    ["for chat", (kind) => (kind === "chat" ? 401 : 200)],
    ["for messages", (kind) => (kind === "messages" ? 401 : 200)],
    ["for every reply, and not for the list", (kind, key) => (kind === "list" && key === KEY ? 200 : 401)],
  ];
  test.each(somewhere)("%s", { timeout: 60_000 }, async (_where, decide) => {
    await using server = await gateway(decide);
    const { code, stdout } = await run(server.baseUrl, ["conform", "models", "chat", "messages", "--target", "t.yaml"]);
    expect(stdout).toContain("FAIL");
    expect(code).toBe(1);
  });
});

test("other keys that the gateway rejects block what needs them, and nothing else", { timeout: 120_000 }, async () => {
  await using server = await gateway((_kind, key) => (key === KEY ? 200 : 401));
  using folder = temporaryFolder();
  const out = join(folder.path, "run");
  const keys = "{ valid: env:K, second: env:K2, empty: env:K3 }";
  const args = ["conform", "models", "auth", "chat", "errors", "--out", out, "--target", "t.yaml"];
  const { stderr } = await run(server.baseUrl, args, keys);
  for (const name of ["second", "empty"])
    expect(stderr.match(new RegExp(`the gateway rejects the key in keys\\.${name}`, "g")), stderr).toHaveLength(1);
  const { checks } = readRun(out).record;
  const failed = checks.filter(({ message }) => /expected 2xx, got 401|expected 402, got 401/.test(message));
  expect(failed.map(({ id, message }) => `${id}: ${message}`)).toEqual([]);
  const blocked = checks.filter(({ status }) => status === "blocked").map(({ message }) => message);
  expect(blocked).toContain("keys.empty cannot be used: the gateway rejects the key: 401 invalid_api_key");
});
