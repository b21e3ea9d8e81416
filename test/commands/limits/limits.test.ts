// real-time: sends load, and judges how much of it was served in time
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { gauntlet, temporaryFolder } from "../../support/gauntlet.ts";

test("limits: the budget is stated first and kept, and what exceeds it stays unknown", async () => {
  const args = [
    "limits",
    "--target",
    "embedded",
    "--account",
    "limited.0",
    "--minutes",
    "0.1",
    "--budget-requests",
    "300",
    "--json",
  ];
  const { code, stdout, stderr } = await gauntlet(args);
  expect(code).toBe(4);
  expect(stderr).toMatch(/\(limits of limited\.0\): at most 300 requests, for at most 0\.1 minutes/);
  const found = JSON.parse(stdout);
  expect(found).toMatchObject({ exitCode: 4, declared: { rpm: 20, inFlight: 4 }, cut: "minutes" });
  expect(found.spent.requests).toBeLessThanOrEqual(300);
  expect(found.concurrency.freedOnDisconnect.value).toBeNull();
});

test("limits: an unknown account, and hosts that may not be loaded", async () => {
  const { code, stderr } = await gauntlet(["limits", "--target", "embedded", "--account", "nobody"]);
  expect(code).toBe(2);
  expect(stderr).toMatch(/no account "nobody"[\s\S]*limited\.0/);
});

test("capacity: the limiting factor is named", async () => {
  const args = [
    "capacity",
    "--target",
    "embedded",
    "--objective",
    "failed < 1%",
    "--streams",
    "--account",
    "limited.1",
  ];
  const { stdout } = await gauntlet([...args, "--from", "2", "--to", "8", "--step-s", "3", "--minutes", "1", "--json"]);
  const found = JSON.parse(stdout);
  const denied = found.steps.find((step: { level: number }) => step.level === 8);
  // On a busy machine the generator may be the bottleneck; a level above the concurrency limit never passes.
  expect(["concurrency limit", "generator"]).toContain(denied?.binds ?? found.binds);
  expect(found.best?.level ?? 0).toBeLessThanOrEqual(4);
  const sent = found.steps.filter(({ binds }: { binds: string }) => binds !== "generator");
  expect(found.frontier.map(({ level }: { level: number }) => level)).toEqual(
    [...new Set<number>(sent.map(({ level }: { level: number }) => level))].sort((a, b) => a - b),
  );
  for (const { figures } of found.frontier) {
    expect(figures.map(({ clause }: { clause: string }) => clause)).toEqual([
      "failed < 1%",
      "denied < 0.1%",
      "dropped < 0.1%",
    ]);
    for (const { value, interval } of figures) {
      expect(interval[0]).toBeLessThanOrEqual(value);
      expect(interval[1]).toBeGreaterThanOrEqual(value);
    }
  }
});

test("capacity: an objective that the mix cannot measure is refused before anything is sent", async () => {
  const objective = "ttft_ms p99 < 800, failed < 0.1%";
  const { code, stderr } = await gauntlet(["capacity", "--target", "embedded", "--objective", objective]);
  expect(code).toBe(2);
  expect(stderr).toMatch(/"ttft_ms p99 < 800" cannot be measured[\s\S]*--streams/);
});

test("size: says how many denials the workload allows", async () => {
  const { stdout } = await gauntlet(["size", "peak"]);
  expect(stdout).toContain("allowed: up to 100.0 % of the requests denied");
});

test("size: a prediction, and a run that agrees with it", async () => {
  using folder = temporaryFolder();
  const file = join(folder.path, "w.yaml");
  writeFileSync(
    file,
    "name: w\narrivals: { kind: constant, ratePerS: 20, durationS: 3 }\nmix: [{ dialect: chat, maxTokens: 4 }]\n",
  );
  const { stdout } = await gauntlet([
    "size",
    file,
    "--verify",
    "--target",
    "embedded",
    "--account",
    "limited.0",
    "--json",
  ]);
  const found = JSON.parse(stdout);
  expect(found.needs).toBe("starter");
  expect(found.verified).toMatchObject({ requests: 60, agrees: true });
  expect(found.verified.deniedShare).toBeGreaterThan(0.5);
});
