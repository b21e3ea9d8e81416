// real-time: checks fill the limits of a minute and wait for Retry-After
import { describe, expect, test } from "vitest";
import { type Judged, judgeGateway } from "../../scripts/verify/judge/judge-gateway.ts";
import { RequestBudget } from "../../src/budget/index.ts";
import { Traffic } from "../../src/checks/index.ts";
import { Redactor } from "../../src/http/recorder/index.ts";
import { prepare } from "../../src/run/preflight/preflight.ts";
import { composeRecord } from "../../src/run/record/compose-record.ts";
import { parseTarget } from "../../src/target/index.ts";
import { ampleBudget, conformTo, httpServer, targetOf } from "../support/judge.ts";

interface Seen {
  readonly method: string;
  readonly url: string;
  readonly headers: Record<string, string | string[] | undefined>;
  readonly authorizations: number;
  readonly body: string;
}

/** A server that records everything and responds to anything with a reply of both dialects. */
async function witness(seen: Seen[], model = "listed/model:1") {
  return httpServer((request, body, response) => {
    const authorizations = request.rawHeaders.filter((name) => name.toLowerCase() === "authorization").length;
    seen.push({ method: request.method ?? "", url: request.url ?? "", headers: request.headers, authorizations, body });
    response.writeHead(200, { "content-type": "application/json", "x-request-id": `r${seen.length}` });
    response.end(
      JSON.stringify({
        data: [{ id: model }],
        choices: [{ index: 0, message: { role: "assistant", content: "hi" }, finish_reason: "stop" }],
        content: [{ type: "text", text: "hi" }],
        usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
      }),
    );
  });
}

describe("rules for the harness itself", () => {
  test("valid requests follow the interface (CLIENT-2, CLIENT-3, CLIENT-4, CLIENT-5, CLIENT-7)", async () => {
    const seen: Seen[] = [];
    await using server = await witness(seen);
    await conformTo(targetOf(server.baseUrl), {
      only: [
        "chat.minimal",
        "chat.conversation",
        "messages.minimal",
        "messages.system",
        "models.list",
        "service.replies",
      ],
    });
    expect(seen.length).toBeGreaterThan(40);
    for (const { method, url, headers, authorizations, body } of seen) {
      expect(authorizations).toBe(1);
      if (method === "GET") expect([url, body, headers["content-length"]]).toEqual(["/v1/models", "", undefined]);
      else expect(headers["content-type"]).toBe("application/json");
      if (method !== "POST") continue;
      const json = JSON.parse(body);
      if (url === "/v1/messages") {
        expect(headers["anthropic-version"]).toMatch(/^\d{4}-\d{2}-\d{2}$/);
        expect(json.messages.map((item: { role: string }) => item.role)).not.toContain("system");
        expect(Number.isInteger(json.max_tokens)).toBe(true);
      }
    }
  });

  test("an automatic model is taken verbatim from the list (CLIENT-1)", async () => {
    const seen: Seen[] = [];
    await using server = await witness(seen);
    const target = parseTarget(`baseUrl: ${server.baseUrl}\nkeys: { valid: env:K }\n`, "t.yaml", {
      K: "sk-test-0123456789",
    });
    await conformTo(target, { only: ["chat.minimal"] });
    expect(JSON.parse(seen.at(-1)?.body ?? "{}").model).toBe("listed/model:1");
  });

  test("first responses only: a redirect is a response, and nothing is retried (RETRY-12)", async () => {
    let requests = 0;
    await using server = await httpServer((_request, _body, response) => {
      requests++;
      response.writeHead(307, { location: "/moved" });
      response.end();
    });
    const controller = new AbortController();
    await using traffic = new Traffic({
      target: targetOf(server.baseUrl),
      budget: ampleBudget(),
      seed: 1,
      signal: controller.signal,
    });
    const response = await traffic.send({}, { endpoint: "chat", mode: "non-streaming" });
    expect([response.status, requests]).toEqual([307, 1]);
  });

  test("without limits in the target, limit checks are blocked with the lines that unblock them (LIMIT-3)", async () => {
    const seen: Seen[] = [];
    await using server = await witness(seen);
    const target = parseTarget(`baseUrl: ${server.baseUrl}\nkeys: { valid: env:K }\n`, "t.yaml", {
      K: "sk-test-0123456789",
    });
    const results = await conformTo(target, { only: ["limits.rate-enforced", "limits.concurrency-exact"] });
    expect(results.map(({ status }) => status)).toEqual(["blocked", "blocked"]);
    expect(results[0]?.unblock.join("\n")).toContain("limited:");
  });

  test("request ids are kept, and the record does not say that every attempt is in the gateway's history (CLIENT-6, HIST-2)", async () => {
    const seen: Seen[] = [];
    await using server = await witness(seen);
    const target = targetOf(server.baseUrl);
    const controller = new AbortController();
    await using traffic = new Traffic({
      target,
      budget: new RequestBudget(target.budget),
      seed: 1,
      signal: controller.signal,
    });
    await prepare(traffic);
    expect(traffic.responses[0]?.exchange.response?.headers).toContainEqual(["x-request-id", "r1"]);
    const facts = {
      command: "test",
      target,
      seed: 1,
      startedAt: new Date(),
      results: [],
      requests: 1,
      build: undefined,
      interruptedBy: undefined,
      waivers: [],
      breaches: [],
      unscored: [],
      rounds: 1,
      leftovers: [],
      redactor: new Redactor([]),
    };
    expect(composeRecord(facts).traffic.note).toMatch(/lost in the network may be missing from the gateway's own logs/);
  });

  test("no verdict depends on optional headers (LIMIT-4)", { timeout: 120_000 }, async () => {
    const suites = ["auth", "errors", "models", "service"];
    const [without, withAll] = await Promise.all([
      judgeGateway({ suites, variants: ["http.no-optional-headers", "rate-headers.none"] }),
      judgeGateway({ suites, variants: ["http.many-headers", "http.vendor-headers"] }),
    ]);
    const verdicts = ({ results }: Judged) => results.map(({ id, status }) => `${id} ${status}`);
    expect(verdicts(without).length).toBeGreaterThan(50);
    expect(verdicts(without)).toEqual(verdicts(withAll));
  });
});
