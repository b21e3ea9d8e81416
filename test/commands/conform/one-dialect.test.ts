// real-time: checks fill the limits of a minute and wait for Retry-After
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { gauntlet, startGauntlet, temporaryFolder } from "../../support/gauntlet.ts";
import { httpServer } from "../../support/judge.ts";

const KEY = "ck-one-dialect-0123456789abcdef";
const UNKNOWN = JSON.stringify({ error: { message: "no such model", type: "not_found_error", code: 404 } });

/** The reference gateway behind a proxy that serves some models in only one dialect. */
async function behindFront(knows: (path: string, model: string) => boolean) {
  const folder = temporaryFolder();
  writeFileSync(join(folder.path, "keys.json"), JSON.stringify({ valid: KEY }));
  const gateway = startGauntlet(["gateway", "--keys", join(folder.path, "keys.json")]);
  const { baseUrl } = JSON.parse(await gateway.printed("\n"));
  const front = await httpServer(async (request, body, response) => {
    const path = (request.url ?? "").replace("/v1", "");
    const model = body === "" ? undefined : (/"model":"([^"]*)"/.exec(body)?.[1] ?? "");
    if (model !== undefined && !knows(path, model)) {
      response.writeHead(404, {
        "Content-Type": "application/json",
        "X-Service-Error-Code": "model_not_found",
        "X-Service-Action": "check_model",
      });
      return response.end(UNKNOWN);
    }
    const { host: _, connection: __, "content-length": ___, ...headers } = request.headers;
    const relayed = await fetch(baseUrl + path, {
      method: request.method ?? "GET",
      headers: headers as Record<string, string>,
      ...(body === "" ? {} : { body }),
    });
    const { "content-length": ____, ...own } = Object.fromEntries(relayed.headers);
    response.writeHead(relayed.status, own);
    if (relayed.body !== null) for await (const piece of relayed.body) response.write(piece);
    return response.end();
  });
  return {
    baseUrl: front.baseUrl,
    path: folder.path,
    async [Symbol.asyncDispose]() {
      await front[Symbol.asyncDispose]();
      await gateway[Symbol.asyncDispose]();
      folder[Symbol.dispose]();
    },
  };
}

let runs = 0;

async function conform(front: { baseUrl: string; path: string }, models: string, checks: readonly string[]) {
  writeFileSync(
    join(front.path, "t.yaml"),
    `baseUrl: ${front.baseUrl}\nkeys: { valid: env:K }\nmodels: ${models}\nlimits: { rpm: 6000, inFlight: 256 }\n`,
  );
  const only = checks.flatMap((check) => ["--only", check]);
  const ran = await gauntlet(
    ["conform", ...only, "--target", "t.yaml", "--json", "--out", `run${++runs}`],
    { K: KEY },
    front.path,
  );
  const { checks: results, verdict } = JSON.parse(ran.stdout) as {
    verdict: string;
    checks: { id: string; status: string; message: string; unblock: string[] }[];
  };
  const of = (status: string) => results.filter((result) => result.status === status);
  return { code: ran.code, verdict, results, of };
}

const ROLES =
  "{ chat: echo-fast, messages: echo-fast, stream: echo-stream, upstreamError: fail-500, upstreamTimeout: fail-timeout, slow: slow }";
const CHECKS = [
  "errors.upstream-failure",
  "errors.upstream-timeout",
  "streaming.ends",
  "messages.minimal",
  "chat.minimal",
];
const CHAT_ONLY = ["fail-500", "fail-timeout", "slow", "echo-stream"];

describe("models that a gateway serves in one dialect only", () => {
  test("block the other dialect's checks, with the line that would unblock them", { timeout: 120_000 }, async () => {
    await using front = await behindFront((path, model) => path !== "/messages" || !CHAT_ONLY.includes(model));
    const { of, verdict } = await conform(front, ROLES, CHECKS);
    expect(of("fail").map(({ id, message }) => `${id}: ${message}`)).toEqual([]);
    expect(of("warn").map(({ id, message }) => `${id}: ${message}`)).toEqual([]);
    const blocked = of("blocked");
    expect(blocked.map(({ id }) => id)).toEqual([
      "errors.upstream-failure[messages,non-streaming]",
      "errors.upstream-failure[messages,streaming]",
      "errors.upstream-timeout[messages,non-streaming]",
      "errors.upstream-timeout[messages,streaming]",
    ]);
    expect(blocked[0]?.unblock).toEqual(["models:", "  upstreamError: { chat: fail-500, messages: <model id> }"]);
    expect(blocked[0]?.message).toContain("this gateway does not serve fail-500 in the messages dialect: 404");
    expect(verdict).toBe("inconclusive");
  });

  test("are judged in the dialect that has its own", { timeout: 120_000 }, async () => {
    await using front = await behindFront((path, model) => path !== "/messages" || model !== "gpt-like");
    const models = "{ chat: echo-fast, messages: echo-fast, upstreamError: { messages: fail-500 } }";
    const { of } = await conform(front, models, ["errors.upstream-failure"]);
    expect(of("pass").map(({ id }) => id)).toEqual([
      "errors.upstream-failure[messages,non-streaming]",
      "errors.upstream-failure[messages,streaming]",
    ]);
    expect(of("blocked")[0]?.unblock).toEqual(["models:", "  upstreamError: { chat: <model id>, messages: fail-500 }"]);
  });

  test("and a chat model that /messages does not know, along with others that it knows", {
    timeout: 120_000,
  }, async () => {
    await using front = await behindFront((path, model) => path !== "/messages" || model !== "echo-fast");
    const { of } = await conform(front, "{ chat: echo-fast }", ["messages.minimal", "chat.minimal"]);
    expect(of("fail")).toEqual([]);
    expect(of("blocked")[0]?.unblock).toEqual(["models:", "  messages: <model id>"]);
    // If no model is named, a listed model that both dialects know is used.
    const open = await conform(front, "{}", ["messages.minimal", "chat.minimal"]);
    expect(open.of("pass").length).toBeGreaterThan(5);
    expect(open.of("fail")).toEqual([]);
  });

  test("a dialect without any model is the gateway's failure", { timeout: 120_000 }, async () => {
    await using front = await behindFront((path) => path !== "/messages");
    const { of, code } = await conform(front, "{ chat: echo-fast }", ["messages.minimal"]);
    expect(of("fail").length + of("inconclusive").length).toBeGreaterThan(0);
    expect(code).not.toBe(0);
  });
});
