import { describe, expect, test } from "vitest";
import { Response } from "../../src/checks/index.ts";
import { Recorder } from "../../src/http/recorder/index.ts";
import { isAmbient, Undecided, Verdict } from "../../src/judging/index.ts";
import { httpServer } from "../support/judge.ts";

const RULES = { reasonHeader: "X-Service-Error-Code", actionHeader: "X-Service-Action" };
const GOOD = '{"choices":[{"index":0,"message":{"role":"assistant","content":"hi"},"finish_reason":"stop"}]}';

/** The result of one request to a server with this response. */
async function responseOf(status: number, body: string, headers: Record<string, string> = {}, cut = false) {
  await using server = await httpServer((_request, _body, response) => {
    response.writeHead(status, { "content-type": "application/json", ...headers });
    if (!cut) return void response.end(body);
    response.write(body.slice(0, 5), () => response.destroy());
  });
  await using recorder = new Recorder({ secrets: [] });
  const exchange = await recorder.send({
    method: "POST",
    url: `${server.baseUrl}/chat/completions`,
    headers: [["Content-Type", "application/json"]],
    body: "{}",
  });
  const requested = {
    endpoint: "chat",
    mode: "non-streaming",
    intent: "valid",
    account: "main",
    inFlight: 1,
  } as const;
  return new Response(exchange, requested, RULES);
}

const reason = (value: string) => ({ "X-Service-Error-Code": value });

describe("the control request of a negative probe", () => {
  test.each<[what: string, ambient: boolean, respond: () => Promise<Response>]>([
    ["a rate limit denial", true, () => responseOf(429, "{}", reason("rate_limit_exceeded"))],
    ["a concurrency denial", true, () => responseOf(429, "{}", reason("concurrency_limit_exceeded"))],
    ["a provider's failure", true, () => responseOf(500, "{}")],
    ["a reply that was cut off", true, () => responseOf(200, GOOD, { "content-length": "99" }, true)],
    ["a refusal", false, () => responseOf(400, "{}", reason("invalid_request"))],
    ["a spent budget", false, () => responseOf(429, "{}", reason("budget_exhausted"))],
    ["an error instead of a reply", false, () => responseOf(200, '{"error":{"message":"no"}}')],
  ])("%s: ambient %s", async (_what, ambient, ask) => {
    const response = await ask();
    expect([response.admitted, isAmbient(response)]).toEqual([false, ambient]);
    const thrown = (() => {
      try {
        new Verdict().requireControl(response);
      } catch (error) {
        return error as Undecided;
      }
      return undefined;
    })();
    expect(thrown).toBeInstanceOf(Undecided);
    expect([thrown?.status, thrown?.message]).toEqual([
      ambient ? "inconclusive" : "blocked",
      `the same request with nothing wrong was not served: ${response.summary}`,
    ]);
  });

  test("one that was served has no effect", async () => {
    const response = await responseOf(200, GOOD);
    const verdict = new Verdict();
    verdict.requireControl(response);
    verdict.assume(true, "all is well");
    expect([verdict.findings, isAmbient(response)]).toEqual([[], false]);
  });
});

test("a finding holds what was seen, where, and in which exchange, and nothing that was not given", async () => {
  const response = await responseOf(200, GOOD);
  const verdict = new Verdict();
  verdict.must("CHAT-1", 1, 1, { in: response, at: "/choices", because: "it is so" });
  verdict.should("CHAT-5", 1, 2);
  verdict.compat("COMPAT-USAGE", 1, 2);
  verdict.observe("STREAM-5", 3);
  const [must, should, compat, observed] = verdict.findings;
  expect(must).toMatchObject({
    outcome: "met",
    weight: "fail",
    pointer: "/choices",
    exchanges: [response.id],
    subject: "it is so",
  });
  expect(should).toMatchObject({
    outcome: "broken",
    weight: "warn",
    expected: { kind: "value", value: 2 },
    observed: { kind: "value", value: 1 },
    deviation: { kind: "bound" },
  });
  expect([compat?.weight, compat?.outcome]).toEqual(["warn", "broken"]);
  expect(Object.keys(observed ?? {}).sort()).toEqual([
    "exchanges",
    "name",
    "observed",
    "outcome",
    "requirements",
    "weight",
  ]);
  expect([observed?.outcome, observed?.weight]).toEqual(["observed", "none"]);
  expect(() => verdict.assume(false, "the control was served")).toThrow("precondition not met: the control was served");
});
