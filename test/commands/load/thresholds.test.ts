// real-time: sends load, and judges how much of it was served in time
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { K6 } from "../../k6/support/k6.ts";
import { gauntlet, temporaryFolder } from "../../support/gauntlet.ts";
import { httpServer } from "../../support/judge.ts";
import { wasLate } from "../../support/valid-generator.ts";

const REPLY = JSON.stringify({
  id: "c1",
  object: "chat.completion",
  created: 1,
  model: "plain",
  choices: [{ index: 0, message: { role: "assistant", content: "hello" }, finish_reason: "stop" }],
  usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
});

/** Load of each engine, by its length in seconds. */
const ARRIVALS = {
  native: (durationS: number) => `arrivals: { kind: constant, ratePerS: 100, durationS: ${durationS} }`,
  autocannon: (durationS: number) =>
    `engine: autocannon\narrivals: { kind: closed, inFlight: 4, durationS: ${durationS} }`,
  k6: (durationS: number) => `engine: k6\narrivals: { kind: constant, ratePerS: 100, durationS: ${durationS} }`,
} as const;
type Engine = keyof typeof ARRIVALS;
const ENGINES = (Object.keys(ARRIVALS) as Engine[]).filter((engine) => engine !== "k6" || K6 !== undefined);

interface Loaded {
  readonly engine?: Engine;
  /** One in this many requests fails; 0: none. */
  readonly oneFailsIn?: number;
  readonly durationS?: number;
  readonly args?: readonly string[];
  readonly policy?: string;
  /** A line of the workload; empty: the defaults of `allow`. */
  readonly allow?: string;
}

/** Sends load with thresholds to a gateway that responds after 20 ms. */
async function loaded(
  thresholds: string,
  {
    engine = "native",
    oneFailsIn = 0,
    durationS = 4,
    args = [],
    policy,
    allow = "allow: { failedShare: 1 }\n",
  }: Loaded = {},
) {
  let count = 0;
  await using server = await httpServer((_request, _body, response) => {
    const fails = oneFailsIn > 0 && ++count % oneFailsIn === 0;
    setTimeout(() => response.writeHead(fails ? 500 : 200, { "content-type": "application/json" }).end(REPLY), 20);
  });
  using folder = temporaryFolder();
  writeFileSync(
    join(folder.path, "w.yaml"),
    `name: w\n${ARRIVALS[engine](durationS)}\n${allow}thresholds: ${thresholds}\n`,
  );
  writeFileSync(
    join(folder.path, "t.yaml"),
    `baseUrl: ${server.baseUrl}\nkeys: { valid: env:K }\nmodels: { chat: plain }\n`,
  );
  if (policy !== undefined) writeFileSync(join(folder.path, "p.yaml"), policy);
  const environment = { K: "ck-thresholds-0123456789abcdef", ...(K6 === undefined ? {} : { K6_PATH: K6 }) };
  const command = ["load", "w.yaml", "--target", "t.yaml", "--out", "run", ...args];
  return { ...(await gauntlet(command, environment, folder.path)), sent: count };
}

describe.concurrent.each(ENGINES)("thresholds with %s", (engine) => {
  test("are shown with their values, and pass", { timeout: 60_000 }, async () => {
    const ran = await loaded('["response_ms p50 < 2000", "failed < 5 %"]', { engine });
    if (wasLate(ran)) return;
    const { code, stdout } = ran;
    expect(stdout).toMatch(/✓ response_ms p50 < 2000: \d[\d.]* ms/);
    expect(stdout).toMatch(/✓ failed < 5 %: 0 %/);
    expect(code, stdout).toBe(0);
  });

  test("fail the run if they are crossed", { timeout: 60_000 }, async () => {
    const ran = await loaded('["response_ms p50 < 5", "failed < 0.5 %"]', { engine, oneFailsIn: 4 });
    if (wasLate(ran)) return;
    const { code, stdout } = ran;
    expect(stdout).toMatch(/✗ response_ms p50 < 5: \d[\d.]* ms/);
    expect(stdout).toMatch(/✗ failed < 0.5 %: \d[\d.]* % \(95 % interval: [\d.]+ % to [\d.]+ %\)/);
    expect(stdout).toMatch(/^FAIL: /m);
    expect(stdout).toMatch(/^ {2}fail: w: response_ms p50: expected < 5 ms, got \d/m);
    expect(code).toBe(1);
  });

  test("on failed requests replace the default of `allow`, and are one failure", { timeout: 60_000 }, async () => {
    const within = await loaded('["failed < 60 %"]', { engine, oneFailsIn: 8, allow: "" });
    if (wasLate(within)) return;
    expect(within.stdout).toMatch(/✓ failed < 60 %: 1[\d.]* %/);
    expect(within.code, within.stdout).toBe(0);
    const beyond = await loaded('["failed < 1 %"]', { engine, oneFailsIn: 8, allow: "" });
    if (wasLate(beyond)) return;
    expect(beyond.stdout).toMatch(/✗ failed < 1 %: 1[\d.]* %/);
    expect(beyond.stdout).toMatch(/^thresholds: 1 fail; checks: /m);
    const stated = await loaded('["failed < 60 %"]', { engine, oneFailsIn: 8, allow: "allow: { failedShare: 0 }\n" });
    if (wasLate(stated)) return;
    expect(stated.stdout).toMatch(/expected none, got \d+ failed/);
    expect(stated.code).toBe(1);
  });

  test("are not decided if their interval contains the bound, or if there are too few requests", {
    timeout: 60_000,
  }, async () => {
    const ran = await loaded('["failed < 26 %", "response_ms p999 < 5000"]', { engine, oneFailsIn: 4 });
    if (wasLate(ran)) return;
    const { code, stdout } = ran;
    expect(stdout).toMatch(/\? failed < 26 %: 2[\d.]* % .*: the interval contains the bound\. About/);
    if (engine !== "autocannon") {
      expect(stdout).toMatch(/\? response_ms p999 < 5000: \d+ samples are too few for p999/);
      expect(code).toBe(4);
    }
  });

  test("end the load with abortOnFail", { timeout: 90_000 }, async () => {
    const threshold = '[{ threshold: "failed < 1 %", abortOnFail: true, delayAbortEvalS: 1 }]';
    const startedMs = performance.now();
    const { code, stdout, stderr } = await loaded(threshold, { engine, oneFailsIn: 2, durationS: 60 });
    expect(stderr).toMatch(/^gauntlet: ending w: crossed failed < 1 %: .*, after \d+ s$/m);
    expect(stdout).toMatch(/✗ failed < 1 %: [45]\d[\d.]* %/);
    // Only the native engine knows how many requests it would have sent.
    expect(stdout).toMatch(
      engine === "native"
        ? /^ {2}fail: w: failed: expected < 1 %, got .*, which ended the load after \d+ of 60 s, [\d,]+ of [\d,]+ requests$/m
        : /^ {2}fail: w: failed: expected < 1 %, got .*, which ended the load after \d+ s$/m,
    );
    expect(stdout).toMatch(/^thresholds: 1 fail; checks: /m);
    expect(performance.now() - startedMs).toBeLessThan(50_000);
    expect(code).toBe(1);
  });
});

test("a threshold on latency ends the load with abortOnFail", { timeout: 90_000 }, async () => {
  const threshold = '[{ threshold: "response_ms p50 < 5", abortOnFail: true }]';
  const ran = await loaded(threshold, { durationS: 60 });
  if (wasLate(ran)) return;
  const { code, stdout, sent } = ran;
  expect(stdout).toMatch(/got .* ms.*, which ended the load after \d+ of 60 s, [\d,]+ of [\d,]+ requests/);
  expect(sent).toBeLessThan(5_000);
  expect(code).toBe(1);
});

test.each([
  ['["no_such_ms p95 < 800"]', [], /thresholds\.0.*has the unknown metric "no_such_ms"/],
  [
    '["failed < 1 %", "failed_share < 0.02"]',
    [],
    /thresholds\.1.*bounds the same figure in the same direction as threshold 1; remove one of them/,
  ],
  ['["response_ms p95 < baseline * 1.1"]', [], /thresholds\.0.*has a baseline, which only a policy has/],
  ['["response_ms p95 < 5 %"]', [], /has the bound "5 %", but "response_ms" is not a share/],
  [
    '[{ threshold: "failed < 1 %", abortOnFail: true }]',
    ["--workers", "2"],
    /abortOnFail of "failed < 1 %" needs a load that one thread sends/,
  ],
])("%s with %j is a usage error", async (thresholds, args, message) => {
  const { code, stderr, sent } = await loaded(thresholds, { args });
  expect(stderr).toMatch(message);
  expect([code, sent]).toEqual([2, 0]);
});

describe("load --policy", () => {
  test("applies the gates on load, whatever else the policy requires", { timeout: 60_000 }, async () => {
    const policy = 'require: { suites: [auth] }\ngates: ["response_ms p50 < 5", "checks{status=fail} == 0"]\n';
    const { code, stdout } = await loaded('["failed < 1 %"]', { policy, args: ["--policy", "p.yaml"] });
    expect(stdout).toMatch(/^FAIL: .*1 of the policy's gates failed/m);
    expect(stdout).toMatch(/gate fail: response_ms p50 < 5: \d/);
    expect(code).toBe(1);
  });

  test("needs a gate on load", async () => {
    const policy = "require: { suites: [auth] }\n";
    const { code, stderr } = await loaded('["failed < 1 %"]', { policy, args: ["--policy", "p.yaml"] });
    expect(stderr).toContain('p.yaml has no gate on load, such as "ttft_ms p95 < 800"');
    expect(code).toBe(2);
  });
});
