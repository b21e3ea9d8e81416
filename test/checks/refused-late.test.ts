// real-time: checks fill the limits of a minute and wait for Retry-After
import { describe, expect, test } from "vitest";
import { judgeGateway } from "../../scripts/verify/judge/judge-gateway.ts";
import { instancesOf } from "../../src/checks/index.ts";
import { causesByDeviation } from "../../src/judging/index.ts";
import { CHECKS } from "../../suites/index.ts";
import { conformTo, httpServer, targetOf } from "../support/judge.ts";
import { judged, seen } from "../support/seen-response.ts";

const REPLY = '{"choices":[{"message":{"role":"assistant","content":"hello"},"finish_reason":"stop"}]}';

const chosen = (pattern: RegExp) => CHECKS.flatMap(instancesOf).filter(({ id }) => pattern.test(id));

test("a stream that is refused after it began is one warning, in every check together", {
  timeout: 120_000,
}, async () => {
  const instances = chosen(
    /^(?:chat\.(?:required-fields|unreadable-body)\[streaming|messages\.(?:max-tokens-mandatory|required-fields)\[streaming|errors\.success-is-a-reply|robustness\.bad-body)/,
  );
  const { results } = await judgeGateway({ variants: ["errors.refused-after-the-stream-began"], instances });
  const bad = results.filter(({ status }) => !["pass", "observed", "not-applicable"].includes(status));
  expect(bad.map(({ id, status, violated }) => [id, status, violated])).toEqual([
    ["errors.success-is-a-reply", "warn", ["REFUSED-IN-TIME"]],
  ]);
  const [cause, ...others] = [...causesByDeviation(results).values()];
  expect(others).toEqual([]);
  expect(cause?.advice).toMatch(/too late to have a status/);
  // It was refused, which is not the same as a pass.
  const required = results.find(({ id }) => id.startsWith("chat.required-fields[streaming"));
  expect(required?.status).toBe("observed");
});

test("a denial whose status the specification names still fails, with the same cause", {
  timeout: 60_000,
}, async () => {
  const { results } = await judgeGateway({
    mutations: ["denial.model-not-found-inside-stream"],
    instances: chosen(/^errors\.(?:model-not-found\[|success-is-a-reply)/),
  });
  const failed = results.filter(({ status }) => status === "fail");
  expect(failed.map(({ id }) => id)).toEqual([
    "errors.model-not-found[chat,streaming]",
    "errors.model-not-found[messages,streaming]",
    "errors.success-is-a-reply",
  ]);
  expect(failed[0]?.violated).toContain("STREAM-2");
  const [cause] = [...causesByDeviation(results).values()];
  expect(cause?.advice).toMatch(/too late to have a status/);
});

/** A gateway whose model `fails` fails in streams after some events of the chat dialect. */
const failsAfter = (events: readonly object[]) =>
  httpServer((request, body, response) => {
    if (request.url?.endsWith("/models") === true) {
      response.writeHead(200, { "Content-Type": "application/json" });
      return response.end(JSON.stringify({ object: "list", data: [{ id: "plain" }, { id: "fails" }] }));
    }
    const isStreamed = body.includes('"stream":true');
    const fails = body.includes('"model":"fails"');
    if (!isStreamed) {
      response.writeHead(fails ? 502 : 200, { "Content-Type": "application/json" });
      return response.end(JSON.stringify(fails ? FAILURE : { id: "c1", model: "plain", choices: [choice("message")] }));
    }
    response.writeHead(200, { "Content-Type": "text/event-stream" });
    const sent = fails ? [...events, FAILURE] : [chunk("Hi"), { ...chunk(""), choices: [END] }];
    for (const event of sent) response.write(`data: ${JSON.stringify(event)}\n\n`);
    return response.end("data: [DONE]\n\n");
  });

const FAILURE = { error: { message: "the provider failed", type: "api_error", code: "upstream_error" } };
const END = { index: 0, delta: {}, finish_reason: "stop" };
const choice = (name: string, text = "Hi") => ({
  index: 0,
  [name]: { role: "assistant", content: text },
  finish_reason: name === "message" ? "stop" : null,
});
const chunk = (text: string) => ({ id: "c1", object: "chat.completion.chunk", choices: [choice("delta", text)] });

describe("a provider's failure inside a stream", () => {
  const judgeStream = async (events: readonly object[]) => {
    await using server = await failsAfter(events);
    const target = targetOf(server.baseUrl);
    const roles = { plain: "plain", upstreamError: "fails", upstreamTimeout: "fails" };
    const only = ["errors.upstream-failure", "errors.upstream-timeout", "errors.success-is-a-reply"];
    const results = await conformTo({ ...target, dialects: ["chat"], models: { chat: roles, messages: {} } }, { only });
    return (id: string) => {
      const result = results.find((one) => one.id === id);
      return [result?.status, ...(result?.violated ?? [])];
    };
  };

  test("that precedes any output needs its status", async () => {
    const resultOf = await judgeStream([]);
    expect(resultOf("errors.upstream-failure[chat,non-streaming]")).toEqual(["pass"]);
    expect(resultOf("errors.upstream-failure[chat,streaming]")).toEqual(["fail", "ERR-5XX-1"]);
    expect(resultOf("errors.success-is-a-reply")).toEqual(["fail", "ERR-200-1"]);
    const greeted = await judgeStream([chunk("")]);
    expect(greeted("errors.upstream-failure[chat,streaming]")).toEqual(["fail", "ERR-5XX-1"]);
  });

  test("that follows some output says nothing about it", async () => {
    const resultOf = await judgeStream([chunk("Once upon a time")]);
    expect(resultOf("errors.upstream-failure[chat,streaming]")).toEqual(["blocked"]);
    expect(resultOf("errors.upstream-timeout[chat,streaming]")).toEqual(["blocked"]);
    expect(resultOf("errors.success-is-a-reply")).toEqual(["pass"]);
  });
});

test("only a 5xx says that a gateway timed out waiting for a provider", () => {
  const control = seen({ sentMs: 0, endMs: 1, text: REPLY });
  const outcomesOf = (status: number) =>
    judged("errors.upstream-timeout", {
      control: { control, nonStreaming: null },
      failed: seen({ sentMs: 2, endMs: 9, status }),
      isAsserted: true,
    })
      .findings.filter(({ requirements }) => requirements.includes("UPSTREAM-TIMEOUT"))
      .map(({ outcome }) => outcome);
  expect(outcomesOf(504)).toEqual(["met"]);
  expect(outcomesOf(404)).toEqual([]);
  expect(outcomesOf(200)).toEqual([]);
});
