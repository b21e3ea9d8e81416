import { describe, expect, test } from "vitest";
import { decide } from "../../src/policy/index.ts";
import type { CheckResult } from "../../src/record/index.ts";
import { conformTo, httpServer, targetOf } from "../support/judge.ts";

const SUITES = ["service", "auth", "models", "chat", "messages", "errors"];
const REPLY = {
  id: "r1",
  object: "chat.completion",
  choices: [{ index: 0, message: { role: "assistant", content: "hello" }, finish_reason: "stop" }],
  content: [{ type: "text", text: "hello" }],
  usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2, input_tokens: 1, output_tokens: 1 },
  data: [{ id: "plain" }],
};

function summary(results: readonly CheckResult[]) {
  const verdict = decide(results, { targetName: "gateway", qualifiers: [] });
  return { ...verdict, failed: results.filter(({ status }) => status === "fail").flatMap(({ violated }) => violated) };
}

describe("gateways that respond to every request in the same way", () => {
  test("401 to everything is a wrong key: nothing is judged, and no negative check passes because of it", async () => {
    await using gateway = await httpServer((_request, _body, response) => {
      response.writeHead(401, {
        "content-type": "application/json",
        "x-service-error-code": "invalid_api_key",
        "x-service-action": "fix",
      });
      response.end(JSON.stringify({ error: { message: "no", type: "auth", code: 401 } }));
    });
    await expect(conformTo(targetOf(gateway.baseUrl), { suites: SUITES })).rejects.toThrow(
      /the gateway rejects the key in keys\.valid/,
    );
  });

  test("200 to everything fails the denial checks", async () => {
    await using gateway = await httpServer((_request, _body, response) => {
      response.writeHead(200, { "content-type": "application/json" });
      response.end(JSON.stringify(REPLY));
    });
    const { exitCode, failed } = summary(await conformTo(targetOf(gateway.baseUrl), { suites: SUITES }));
    expect(exitCode).toBe(1);
    const requirements = [
      "AUTH-2",
      "AUTH-3",
      "AUTH-4",
      "ERR-402-CREDITS",
      "ERR-402-QUOTA",
      "ERR-404-MODEL",
      "ERR-429-BUDGET",
      "MSG-4",
      "MODELS-5",
    ];
    expect(failed).toEqual(expect.arrayContaining(requirements));
  });

  test("one with the right denials but without a single reply fails", async () => {
    const denials: Record<string, [number, string]> = {
      valid: [429, "rate_limit_exceeded"],
      revoked: [401, "key_revoked"],
      capped: [402, "quota_exceeded"],
      childExhausted: [429, "budget_exhausted"],
      empty: [402, "insufficient_credits"],
      emptySecond: [402, "insufficient_credits"],
    };
    await using gateway = await httpServer((request, body, response) => {
      const name = /sk-test-(\w+)-/.exec(request.headers.authorization ?? "")?.[1] ?? "";
      const [status, reason] = body.includes("nobody")
        ? [404, "model_not_found"]
        : (denials[name] ?? [401, "invalid_api_key"]);
      response.writeHead(status as number, {
        "x-service-error-code": reason as string,
        "x-service-action": "act",
        "retry-after": "0",
      });
      response.end(JSON.stringify({ error: { message: "no", type: "t", code: status } }));
    });
    const results = await conformTo(targetOf(gateway.baseUrl), { suites: ["service", "errors"] });
    expect(summary(results).exitCode).toBe(1);
    expect(results.filter(({ check, status }) => check.startsWith("errors.key") && status === "pass")).toEqual([]);
  });

  test("half a service is detected: one dialect responds as the other", async () => {
    await using gateway = await httpServer((_request, _body, response) => {
      const { content: _, ...chatOnly } = REPLY;
      response.writeHead(200, { "content-type": "application/json" });
      response.end(JSON.stringify(chatOnly));
    });
    const { failed } = summary(
      await conformTo(targetOf(gateway.baseUrl), { only: ["messages.minimal", "chat.minimal"] }),
    );
    expect(failed).toEqual(expect.arrayContaining(["MSG-1", "MSG-2"]));
    expect(failed).not.toContain("CHAT-2");
  });
});
