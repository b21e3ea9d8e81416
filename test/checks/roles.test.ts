import { describe, expect, test } from "vitest";
import { Traffic } from "../../src/checks/index.ts";
import { verificationRequests } from "../../src/checks/role-verification.ts";
import { type Gateway, startGateway } from "../../src/reference-gateway/index.ts";
import { parseTarget } from "../../src/target/index.ts";
import { ampleBudget, conformTo, httpServer } from "../support/judge.ts";

const ROLES = {
  echo: "echo-fast",
  stream: "echo-stream",
  slow: "slow",
  tools: "tool-caller",
  upstreamError: "fail-500",
  upstreamTimeout: "fail-timeout",
  cutStream: "drop-midstream",
} as const;

/** The gateway as a third-party one: what its models do is only known from the target file. */
function targetOf({ ready }: Gateway, roles: Readonly<Record<string, string>>) {
  const environment: Record<string, string> = { K: ready.keys.valid };
  const limited = ready.limited.map(({ key, limits }, index) => {
    environment[`L${index}`] = key;
    return `  - { key: env:L${index}, limits: { rpm: ${limits.rpm}, inFlight: ${limits.inFlight} } }\n`;
  });
  const models = { chat: "echo-fast", messages: "echo-fast", ...roles };
  return parseTarget(
    `baseUrl: ${ready.baseUrl}\nkeys: { valid: env:K }\nlimits: { rpm: 6000, inFlight: 256 }\nlimited:\n${limited.join("")}models: ${JSON.stringify(models)}\n`,
    "t.yaml",
    environment,
  );
}

/** A check of each role, in both dialects or modes where it has them. */
const ONLY = [
  "robustness.text[chat,multibyte]",
  "robustness.text[messages,long]",
  "streaming.text-intact[chat,short]",
  "streaming.long-intact[chat]",
  "limits.concurrency-non-streaming",
  "compat.chat-tools",
  "compat.messages-tools",
  "errors.upstream-failure[chat,non-streaming]",
  "errors.upstream-failure[messages,streaming]",
  "errors.upstream-timeout[chat,non-streaming]",
  "compat.chat-stream-error",
];

describe("a role that the target file names", { timeout: 180_000 }, () => {
  test("is evidence if the model has it", async () => {
    await using gateway = await startGateway();
    const only = ONLY.filter((id) => !id.startsWith("limits."));
    const results = await conformTo(targetOf(gateway, ROLES), { only });
    expect(results.filter(({ status }) => status !== "pass").map(({ id, message }) => `${id}: ${message}`)).toEqual([]);
  });

  test("blocks what needs it if the model does something else, and says what", async () => {
    await using gateway = await startGateway();
    const others = Object.fromEntries(Object.keys(ROLES).map((role) => [role, "echo-fast"]));
    const results = await conformTo(targetOf(gateway, { ...others, echo: "shout-fast" }), { only: ONLY });
    expect(results.filter(({ status }) => status !== "blocked").map(({ id, message }) => `${id}: ${message}`)).toEqual(
      [],
    );
    const messages = Object.fromEntries(results.map(({ id, message }) => [id, message]));
    expect(messages).toMatchObject({
      "robustness.text[chat,multibyte]": expect.stringMatching(
        /^models\.echo cannot be used: shout-fast does not repeat its prompt exactly: it replied "PLEASE REPEAT .*" to "Please repeat/,
      ),
      "streaming.long-intact[chat]": expect.stringMatching(
        /models\.stream cannot be used: echo-fast does not give a long reply: .* replied "Tell me a long story\." \(21 characters\)/,
      ),
      "limits.concurrency-non-streaming": expect.stringMatching(
        /models\.slow cannot be used: echo-fast is not slow: .* after \d+ ms/,
      ),
      "compat.messages-tools": expect.stringMatching(
        /models\.tools cannot be used: echo-fast does not call a tool: .* "What is the weather/,
      ),
      "errors.upstream-failure[messages,streaming]": expect.stringMatching(
        /models\.upstreamError cannot be used: echo-fast does not fail: it replied "Please repeat/,
      ),
      "errors.upstream-timeout[chat,non-streaming]": expect.stringMatching(
        /^models\.upstreamTimeout does not time out: it responded with 200 after \d+ ms with "Please/,
      ),
      "compat.chat-stream-error": expect.stringMatching(/models\.cutStream cannot be used: echo-fast is not cut off: /),
    });
    expect(results.find(({ id }) => id === "compat.chat-tools")?.unblock).toEqual(["models:", "  tools: <model id>"]);
  });

  test("is tried once per dialect, with few requests", async () => {
    await using gateway = await startGateway();
    await using traffic = new Traffic({
      target: targetOf(gateway, ROLES),
      budget: ampleBudget(),
      seed: 1,
      signal: new AbortController().signal,
    });
    for (const role of Object.keys(ROLES) as (keyof typeof ROLES)[])
      for (const dialect of ["chat", "messages"] as const) {
        const before = traffic.sent.requests;
        expect(await traffic.fixtures.findVerified(`model.${role}`, dialect), role).toMatchObject({ ok: true });
        expect(await traffic.fixtures.findVerified(`model.${role}`, dialect), role).toMatchObject({ ok: true });
        expect(traffic.sent.requests - before).toBeLessThanOrEqual(2 + verificationRequests(role));
      }
    // One shows that a role works, and one shows that the gateway knows its model.
    expect(traffic.sent.requests).toBeLessThanOrEqual(2 * 2 * Object.keys(ROLES).length);
  });

  test("is accepted if the gateway breaks it in one form only", async () => {
    await using gateway = await startGateway({ mutations: ["text.first-piece-in-capitals", "text.last-piece-lost"] });
    const only = ["streaming.text-intact[chat,short]", "robustness.text[messages,multibyte]"];
    const results = await conformTo(targetOf(gateway, ROLES), { only });
    expect(results.map(({ status }) => status)).toEqual(["warn", "pass"]);
  });
});

test.each([
  ["the model", 5_000, 5_000, "blocked"],
  ["the gateway, in streams", 5_000, 6_000, "warn"],
])("long events that %s shortens", async (_, streamed, replied, expected) => {
  await using server = await httpServer((request, body, response) => {
    const parsed = body === "" ? {} : JSON.parse(body);
    const prompt = String(parsed.messages?.[0]?.content ?? "");
    const said = prompt.slice(0, parsed.stream === true ? streamed : replied);
    const usage = { prompt_tokens: prompt.length, completion_tokens: Math.min(prompt.length, replied) };
    const choice = (what: object) => ({
      id: "c",
      object: "o",
      choices: [{ index: 0, finish_reason: "stop", ...what }],
    });
    const type = { "content-type": parsed.stream === true ? "text/event-stream" : "application/json" };
    response.writeHead(200, type);
    if (request.url?.endsWith("/models") === true) return response.end('{"data":[{"id":"m"}]}');
    if (parsed.stream !== true)
      return response.end(JSON.stringify({ ...choice({ message: { role: "assistant", content: said } }), usage }));
    return response.end(`data: ${JSON.stringify(choice({ delta: { content: said } }))}\n\ndata: [DONE]\n\n`);
  });
  const file = `baseUrl: ${server.baseUrl}\nkeys: { valid: env:K }\nmodels: { chat: m, messages: m, echo: m }\nlimits: { rpm: 6000, inFlight: 8 }\n`;
  const target = parseTarget(file, "t.yaml", { K: "sk-test-0123456789abcdef" });
  const [result] = await conformTo(target, { only: ["streaming.long-events[chat]"] });
  expect([result?.status, result?.message]).toEqual([expected, expect.stringContaining("5000 of ")]);
});

test("an echo that shortens long texts blocks only what needs long texts", { timeout: 120_000 }, async () => {
  await using gateway = await startGateway({ variants: ["models.shorten-long-texts"] });
  const results = await conformTo(targetOf(gateway, ROLES), { only: ["robustness.text", "streaming.text-intact"] });
  const byStatus = (status: string) => results.filter((result) => result.status === status).map(({ id }) => id);
  expect(byStatus("blocked")).toEqual([
    "robustness.text[chat,long]",
    "robustness.text[chat,very-long]",
    "robustness.text[messages,long]",
    "robustness.text[messages,very-long]",
  ]);
  expect(results.filter(({ status }) => !["pass", "blocked"].includes(status))).toEqual([]);
  expect(results.find(({ status }) => status === "blocked")?.message).toMatch(
    /^models\.echo does not repeat long texts: it repeated \d+ of \d+ characters, and its usage counts no more than that/,
  );
});
