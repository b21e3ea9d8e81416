// real-time: sends load, and judges how much of it was served in time
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { RequestBudget } from "../../../src/budget/index.ts";
import { LiveGateway } from "../../../src/load/analysis/limits/live-gateway.ts";
import { longRequests } from "../../../src/load/analysis/limits/request-kinds.ts";
import { startEmbedded } from "../../../src/target/index.ts";
import { gauntlet, MAIN, temporaryFolder } from "../../support/gauntlet.ts";
import { rawServer, response } from "../../support/raw-server.ts";

const denied = (message: string, more = "") =>
  response(JSON.stringify({ error: { message, type: "error", code: 429 } }), {
    status: "429 Too Many Requests",
    headers: `Content-Type: application/json\r\n${more}`,
  });
const served = response(
  '{"choices":[{"index":0,"message":{"role":"assistant","content":"hi"},"finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":1,"total_tokens":2}}',
  { headers: "Content-Type: application/json\r\n" },
);

test("load: denials are classified, and their Retry-After is followed, by their text", async () => {
  // The first reaches its limit, the second has used up its budget: only the text says that waiting is useless.
  const replies = [
    denied("Slow down: 3 per minute", "Retry-After: 1\r\n"),
    denied("Budget 3 is used up", "Retry-After: 1\r\n"),
  ];
  await using server = await rawServer((socket) => void socket.write(replies.shift() ?? served));
  using folder = temporaryFolder();
  writeFileSync(
    join(folder.path, "w.yaml"),
    "name: w\nretryAfter: compliant\narrivals: { kind: constant, ratePerS: 4, durationS: 1 }\nallow: { deniedShare: 1, failedShare: 1 }\n",
  );
  writeFileSync(
    join(folder.path, "t.yaml"),
    `baseUrl: ${server.origin}/v1
keys: { valid: env:K }
models: { chat: plain }
contract:
  denials:
    rate_limit_exceeded: { message: { pattern: "^Slow down: \\\\d+ per minute" } }
    budget_exhausted: { message: is used up }
`,
  );
  await gauntlet(
    ["load", "w.yaml", "--target", "t.yaml", "--json", "--out", "run"],
    { K: "ck-text-only-0123456789abcdef" },
    folder.path,
  );
  const { load } = JSON.parse(readFileSync(join(folder.path, "run", "run.json"), "utf8"));
  const { groups, client } = load.runs[0].retryAfter;
  expect(groups.map(({ reason, denials }: { reason: string; denials: number }) => [reason, denials])).toEqual([
    ["rate_limit_exceeded", 1],
    ["budget_exhausted", 1],
  ]);
  expect(client).toMatchObject({ retries: 1, forbiddenRetries: 0, earlySends: 0 });
});

test("limits: a denial whose text names the limit is not unnamed", { timeout: 60_000 }, async () => {
  const command = [process.execPath, MAIN, "gateway", "--variant", "wording.text-only"] as const;
  await using embedded = await startEmbedded({ command });
  const { target } = embedded;
  const account = target.limited.find(({ limits }) => limits.rpm > 1_000);
  if (account === undefined) throw new Error("the embedded gateway has no account with a low concurrency limit");
  const own = { target, key: account.key, second: account.second, other: undefined };
  await using gateway = new LiveGateway({
    ...own,
    maxConnections: 16,
    share: new RequestBudget({ requests: 50, outputTokens: 1_000_000 }).reserve(50),
    durationMs: 40_000,
    stop: new AbortController().signal,
  });
  const [request] = longRequests(own).values();
  if (request === undefined) throw new Error("no long request");
  const holds = Array.from({ length: account.limits.inFlight + 1 }, () => gateway.hold(request));
  await expect.poll(() => holds.every((hold) => hold?.verdict() !== undefined), { timeout: 20_000 }).toBe(true);
  expect(holds.map((hold) => hold?.verdict()).toSorted()).toEqual([
    ...Array.from({ length: account.limits.inFlight }, () => "admitted"),
    "concurrency",
  ]);
  expect(holds.some((hold) => hold?.unnamed)).toBe(false);
  for (const hold of holds) hold?.leave();
});
