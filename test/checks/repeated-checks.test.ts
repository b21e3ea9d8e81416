// real-time: checks fill the limits of a minute and wait for Retry-After
import { expect, test } from "vitest";
import { judgeGateway } from "../../scripts/verify/judge/judge-gateway.ts";
import { instancesOf } from "../../src/checks/index.ts";
import { CHECKS } from "../../suites/index.ts";
import { conformTo, httpServer, targetOf } from "../support/judge.ts";

const CHECK = "chat.minimal[plain]";
const SERVED = {
  choices: [{ index: 0, message: { role: "assistant", content: "hi" }, finish_reason: "stop" }],
  usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
};

/** A gateway that responds with 502 to some of its checks' chat requests, depending on the number of earlier ones. */
async function judged(fails: (before: number) => boolean) {
  let chats = 0;
  await using server = await httpServer((request, body, response) => {
    response.setHeader("Content-Type", "application/json");
    if (request.method === "GET") return response.end(JSON.stringify({ data: [{ id: "plain" }] }));
    // Requests of the preflight ask for short replies.
    const isOwn = request.url?.endsWith("/chat/completions") === true && !body.includes('"max_tokens":8');
    if (isOwn && fails(chats++))
      return response.writeHead(502).end(JSON.stringify({ error: { message: "bad gateway", code: 502 } }));
    return response.end(JSON.stringify(SERVED));
  });
  const results = await conformTo(targetOf(server.baseUrl), { suites: [], only: [CHECK, "robustness.stable-service"] });
  const [check, stable] = results;
  if (check === undefined || stable === undefined) throw new Error("both are selected");
  return { check, stable };
}

test("a check that one 502 decided is run once more, and the 502 counts over the run", async () => {
  const sound = await judged(() => false);
  expect([sound.check.status, sound.stable.status]).toEqual(["pass", "pass"]);
  const stray = await judged((before) => before === 0);
  expect(stray.check).toMatchObject({ status: "pass" });
  expect(stray.stable).toMatchObject({ status: "warn", violated: ["STEADY-SERVICE"] });
  // The 502 is evidence of the check, too.
  expect(stray.check.exchanges.length).toBe(sound.check.exchanges.length + 1);
  expect(stray.stable.findings.find(({ outcome }) => outcome === "broken")?.exchanges).toEqual([
    stray.check.exchanges.at(-1),
  ]);
});

test("the same failure twice fails the check", async () => {
  // Always.
  expect((await judged(() => true)).check.status).toBe("fail");
  // Five requests between them are served, and the repeated check meets the second one.
  expect((await judged((before) => before === 0 || before === 5)).check.status).toBe("fail");
});

test("failures of one request in eighty fail the run, but no check of working behaviour", {
  timeout: 240_000,
}, async () => {
  const suites = ["service", "chat", "messages", "streaming", "compat"];
  const instances = CHECKS.filter(
    ({ id }) => suites.includes(id.split(".")[0] ?? "") || id === "robustness.stable-service",
  ).flatMap(instancesOf);
  const { results } = await judgeGateway({ mutations: ["load.502-page-now-and-then"], instances });
  const broken = results.filter(({ status }) => status === "fail" || status === "warn");
  expect(broken.map(({ id, status, message }) => `${id} ${status}: ${message}`)).toEqual([
    expect.stringContaining("robustness.stable-service"),
  ]);
});
