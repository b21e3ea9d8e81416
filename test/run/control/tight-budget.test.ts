// real-time: checks fill the limits of a minute and wait for Retry-After
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { gauntlet, startGauntlet, temporaryFolder } from "../../support/gauntlet.ts";

interface Document {
  readonly exitCode: number;
  readonly checks: readonly { id: string; status: string; message: string; unblock?: string[] }[];
}

const BUDGET = 220;

function writeTarget(folder: string, baseUrl: string, more: string): void {
  const models = "{ chat: echo-fast, messages: echo-fast, stream: echo-stream }";
  writeFileSync(
    join(folder, "t.yaml"),
    `baseUrl: ${baseUrl}\nkeys: { valid: env:GW_KEY }\nmodels: ${models}\n${more}\n`,
  );
}

test("a budget too small for the expensive checks: they are omitted, each once with its cost, and the others decide", {
  timeout: 120_000,
}, async () => {
  using folder = temporaryFolder();
  await using gateway = startGauntlet(["gateway", "--limits", "6000:8"]);
  const ready = JSON.parse(await gateway.printed("\n"));
  writeTarget(folder.path, ready.baseUrl, `limits: { rpm: 6000, inFlight: 8 }\nbudget: { requests: ${BUDGET} }`);
  const run = ["conform", "models", "limits", "--target", "t.yaml", "--out", "run", "--json"];
  const { code, stdout } = await gauntlet(run, { GW_KEY: ready.keys.valid }, folder.path);
  const { checks, exitCode } = JSON.parse(stdout) as Document;
  const omitted = checks.filter(({ message }) => message.startsWith("not run: it needs"));
  const ofConcurrency = omitted.filter(({ id }) => id.startsWith("limits.concurrency-"));
  expect(ofConcurrency.length).toBeGreaterThan(5);
  for (const { status, message, unblock } of omitted) {
    expect(status).toBe("blocked");
    expect(message).toMatch(
      /it needs about [\d,]+ requests?, and the budget has room for \d+ after the cheaper checks/,
    );
    expect(unblock).toEqual(["budget:", expect.stringMatching(/^ {2}requests: \d{3,}$/)]);
  }
  // The scenario of all concurrency checks is planned once: every line reports the same budget.
  expect(new Set(omitted.map(({ unblock }) => unblock?.[1])).size).toBe(1);
  expect(checks.filter(({ message }) => message.includes("is used up"))).toEqual([]);
  const models = checks.filter(({ id }) => id.startsWith("models."));
  expect(models.filter(({ status }) => status === "pass").length).toBeGreaterThan(5);
  expect(code).toBe(exitCode);
  const record = readFileSync(join(folder.path, "run", "run.json"), "utf8");
  const { traffic } = JSON.parse(record) as { traffic: { requests: number } };
  expect(traffic.requests).toBeLessThanOrEqual(BUDGET);
});

test("a limit that is declared as none neither fails nor blocks, and the verdict names the gap", async () => {
  using folder = temporaryFolder();
  await using gateway = startGauntlet(["gateway", "--limits", "100000:100000"]);
  const ready = JSON.parse(await gateway.printed("\n"));
  writeTarget(folder.path, ready.baseUrl, "limits: { rpm: 100000, inFlight: none }");
  const run = ["conform", "--only", "limits.concurrency-enforced", "--only", "models.list", "--target", "t.yaml"];
  const { stdout } = await gauntlet([...run, "--json"], { GW_KEY: ready.keys.valid }, folder.path);
  const { checks } = JSON.parse(stdout) as Document;
  expect(checks.map(({ id, status }) => `${id} ${status}`).sort()).toEqual([
    "limits.concurrency-enforced not-applicable",
    "models.list pass",
  ]);
  const text = await gauntlet(run, { GW_KEY: ready.keys.valid }, folder.path);
  expect(text.stdout).toContain("partial: declared gaps limited.concurrency");
  expect(text.code).toBe(0);
  const load = await gauntlet(["load", "own", "--target", "t.yaml"], { GW_KEY: ready.keys.valid }, folder.path);
  expect(load.code).toBe(2);
});
