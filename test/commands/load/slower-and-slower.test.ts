// real-time: sends load, and judges how much of it was served in time
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { expect, test } from "vitest";
import { gauntlet, temporaryFolder } from "../../support/gauntlet.ts";
import { httpServer } from "../../support/judge.ts";

const LIST = { object: "list", data: [{ id: "plain", object: "model" }] };
const REPLY = {
  choices: [{ index: 0, message: { role: "assistant", content: "hi" }, finish_reason: "stop" }],
  usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
};

test("a gateway that becomes slower with every request ends the run before its user stops waiting", {
  timeout: 400_000,
}, async () => {
  let replies = 0;
  await using server = await httpServer(async (request, _body, response) => {
    const isReply = request.method === "POST";
    // Fast until it is known, then a seventh of a second slower each time.
    if (isReply) await wait(Math.min(10_000, Math.max(0, replies++ - 60) * 150));
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(isReply ? REPLY : LIST));
  });
  using folder = temporaryFolder();
  writeFileSync(
    join(folder.path, "t.yaml"),
    `baseUrl: ${server.baseUrl}\nkeys: { valid: env:K }\nmodels: { chat: plain, messages: plain }\nlimits: { rpm: 6000, inFlight: 64 }\n`,
  );
  const run = ["conform", "--target", "t.yaml"];
  const { code, stdout } = await gauntlet(run, { K: "ck-slower-0123456789abcdef" }, folder.path);
  expect(stdout).toMatch(/becomes slower and slower: a plain reply took \d+ ms at the start and now takes \d+ ms/);
  expect([1, 4]).toContain(code);
});
