// real-time: interrupts a search for capacity while requests are in flight
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { startGauntlet, temporaryFolder } from "../../support/gauntlet.ts";
import { rawServer } from "../../support/raw-server.ts";

const REPLY = JSON.stringify({
  ...{ id: "x", object: "chat.completion", created: 1, model: "plain" },
  choices: [{ index: 0, message: { role: "assistant", content: "hi" }, finish_reason: "stop" }],
  usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
});
/** Later requests get no response, so that some are in flight when the search is interrupted. */
const SERVED = 30;

test("requests that the interruption ended do not count as failures of the gateway", { timeout: 60_000 }, async () => {
  let sent = 0;
  await using server = await rawServer((socket) => {
    sent++;
    if (sent <= SERVED)
      socket.write(
        `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: ${REPLY.length}\r\n\r\n${REPLY}`,
      );
  });
  using folder = temporaryFolder();
  writeFileSync(
    join(folder.path, "t.yaml"),
    `baseUrl: ${server.origin}/v1\nkeys: { valid: env:K }\nmodels: { chat: plain }\nlimits: { rpm: 6000, inFlight: 64 }\n`,
  );
  const search = ["--objective", "failed < 1%", "--from", "5", "--to", "10", "--step-s", "20", "--minutes", "1"];
  await using running = startGauntlet(
    ["capacity", ...search, "--target", "t.yaml", "--json"],
    { K: "ck-interrupted-0123456789abcdef" },
    folder.path,
  );
  expect(await running.printed("searching")).toContain("; too short to hold a level for 75 s\n");
  while (sent < SERVED + 5) await new Promise((done) => setTimeout(done, 20));
  running.child.kill("SIGINT");
  const { code, stdout } = await running.finished;
  const found = JSON.parse(stdout);
  expect(code).toBe(130);
  expect(found).toMatchObject({ cut: "interrupted", steps: [], frontier: [] });
});
