// real-time: checks fill the limits of a minute and wait for Retry-After
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { Throttle } from "../../../src/checks/traffic/throttle.ts";
import { readRun } from "../../../src/record/index.ts";
import { gauntlet, temporaryFolder } from "../../support/gauntlet.ts";
import { httpServer } from "../../support/judge.ts";

const SERVED = {
  choices: [{ index: 0, message: { role: "assistant", content: "hi" }, finish_reason: "stop" }],
  usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
};
const CHECKS = ["plain", "fresh-connection", "second-turn"].map((name) => `chat.minimal[${name}]`);

/** A gateway behind a proxy that allows this many requests per second and client address, and names no reason. */
async function behindLimit(perSecond: number, limits: string) {
  let window = 0;
  let used = 0;
  let denied = 0;
  await using server = await httpServer((request, _body, response) => {
    const now = Math.floor(Date.now() / 1_000);
    if (now !== window) used = 0;
    window = now;
    if (++used > perSecond) {
      denied++;
      return response.writeHead(429, { "Retry-After": "1", "Content-Type": "text/plain" }).end("Too Many Requests");
    }
    response.setHeader("Content-Type", "application/json");
    return response.end(JSON.stringify(request.method === "GET" ? { data: [{ id: "plain" }] } : SERVED));
  });
  using folder = temporaryFolder();
  writeFileSync(
    join(folder.path, "t.yaml"),
    `baseUrl: ${server.baseUrl}\nkeys: { valid: env:K }\nmodels: { chat: plain }\ndialects: [chat]\n${limits}`,
  );
  const out = join(folder.path, "run");
  const only = CHECKS.flatMap((id) => ["--only", id]);
  const { stderr } = await gauntlet(
    ["conform", ...only, "--target", "t.yaml", "--out", out],
    { K: "ck-limit-0123456789abcdef" },
    folder.path,
  );
  expect(denied).toBeGreaterThan(0);
  return { stderr, checks: readRun(out).record.checks };
}

test("a limit that the target file does not declare is waited out and reported once", { timeout: 60_000 }, async () => {
  const { stderr, checks } = await behindLimit(4, "");
  expect(checks.map(({ id, status }) => `${id} ${status}`)).toEqual(CHECKS.map((id) => `${id} pass`));
  expect(stderr.match(/the gateway limits this client to about \d+ requests\/min/g)).toHaveLength(1);
  expect(stderr).toContain("although the target file declares no limits");
});

test("a gateway that denies what its declared limits allow fails", { timeout: 60_000 }, async () => {
  const { stderr, checks } = await behindLimit(4, "limits: { rpm: 6000, inFlight: 64 }\n");
  expect(checks.some(({ status }) => status === "fail")).toBe(true);
  expect(stderr).not.toContain("declares no limits");
});

test("after a wait for a window, no more is sent in one than it can take", async () => {
  let nowMs = 0;
  const throttle = new Throttle(undefined, () => nowMs);
  const { signal } = new AbortController();
  for (let sent = 0; sent < 100; sent++) {
    nowMs += 10;
    await throttle.enter(signal);
    throttle.leave();
  }
  throttle.slowDown("rate_limit_exceeded", 30_000, nowMs);
  nowMs += 62_000;
  for (let sent = 0; sent < 85; sent++) {
    await throttle.enter(signal);
    throttle.leave();
  }
  const stop = new AbortController();
  const waits: [string, number][] = [];
  const next = throttle.enter(stop.signal, (what, forMs) => {
    waits.push([what, forMs]);
    stop.abort();
  });
  await expect(next).rejects.toThrow();
  expect(waits).toEqual([["rate window", 61_000]]);
});
