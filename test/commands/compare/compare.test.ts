// real-time: sends load, and judges how much of it was served in time
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { gauntlet, startGauntlet, temporaryFolder } from "../../support/gauntlet.ts";

test("two stored runs: new failures, lost checks, changed responses", { timeout: 180_000 }, async () => {
  using folder = temporaryFolder();
  const at = folder.path;
  await gauntlet(["conform", "--target", "embedded", "models", "chat", "--seed", "3", "--out", "a"], {}, at);
  await gauntlet(["conform", "--target", "embedded", "models", "chat", "--seed", "3", "--out", "same"], {}, at);
  const worse = ["--mutation", "chat.usage-missing", "--variant", "http.no-optional-headers"];
  await gauntlet(["conform", "models", "chat", "--seed", "3", ...worse, "--out", "b"], {}, at);

  const same = await gauntlet(["compare", "a", "same", "--out", "c1", "--json"], {}, at);
  const itself = JSON.parse(same.stdout);
  expect(itself.comparison).toMatchObject({
    kind: "stored",
    verdict: "not worse",
    checks: { newlyFailing: [], vanished: [] },
  });
  expect(itself.comparison.drift).toEqual([]);
  expect(same.code).toBe(0);

  // Checks that a run did not select are not lost.
  await gauntlet(["conform", "--target", "embedded", "--only", "models.list", "--seed", "3", "--out", "one"], {}, at);
  const part = await gauntlet(["compare", "a", "one", "--out", "c3"], {}, at);
  expect(part.stdout).toMatch(/not compared: \d+ check instances that only the first run selected/);
  expect(part.stdout).toMatch(/^NOT WORSE: one compared with a$/m);
  expect(part.code).toBe(0);

  const { code, stdout } = await gauntlet(["compare", "a", "b", "--out", "c2"], {}, at);
  expect(code).toBe(1);
  expect(stdout).toMatch(/^b is worse than a: \d+ check instances newly fail; .*differences in the responses\.$/m);
  expect(stdout.startsWith("b is worse than a: ")).toBe(true);
  expect(stdout).not.toMatch(/\b(?:odd|either) \d/);
  expect(stdout).toMatch(/✗ newly failing, \d+ check instances: \/usage is missing: .*\n {4}in chat\.\S+, .* more$/m);
  expect(stdout).toMatch(/▲ field \/usage: present → absent \(chat non-streaming, valid request, status 200/);
  expect(stdout).toMatch(/▲ header x-request-id: present → absent \(.*, and \d+ more kinds? of response\)/);
  expect(stdout).toMatch(/^REGRESSED: /m);
  expect(stdout).toMatch(/^ {2}\d+ check instances fail in b and did not in a: chat\.\S+ and \d+ more$/m);
  const page = readFileSync(join(at, "c2", "report.html"), "utf8");
  expect(page.includes("weaker evidence than one interleaved session")).toBe(true);
  expect((await gauntlet(["report", "c2"], {}, at)).code).toBe(0);
  expect(readFileSync(join(at, "c2", "report.html"), "utf8") === page).toBe(true);
});

test("an interrupted session says after how many rounds", { timeout: 120_000 }, async () => {
  using folder = temporaryFolder();
  const builds = ["--start-a", "gauntlet gateway", "--start-b", "gauntlet gateway --pace 3"];
  const session = ["--pairs", "10", "--block-s", "1", "--suites", "models", "--out", "cut"];
  await using running = startGauntlet(["compare", ...builds, ...session], {}, folder.path);
  await running.printed(/round [2-9] of 10/);
  running.child.kill("SIGINT");
  const { code, stdout } = await running.finished;
  expect(stdout).toMatch(/^ {2}Interrupted by SIGINT after [1-9] of 10 rounds: the verdict covers only those\.$/m);
  expect(stdout).not.toContain("For a verdict");
  expect(code).toBe(130);
});

test.each<[what: string, args: string[], says: RegExp, exitCode?: number]>([
  [
    "too few pairs for a verdict",
    ["--start-a", "gauntlet gateway", "--start-b", "gauntlet gateway", "--pairs", "5"],
    /5 pairs cannot reach a verdict[\s\S]*--pairs \d+/,
  ],
  ["nothing to compare", [], /name two targets/],
  [
    "a build that does not start",
    ["--start-a", "no-such-program", "--start-b", "gauntlet gateway"],
    /--start-a: the build "no-such-program" did not start: spawn no-such-program ENOENT\n {2}Without a target file, the command must start/,
  ],
  [
    "a second build whose command is misspelled",
    ["--start-a", "gauntlet gateway", "--start-b", "gauntlet gatway"],
    /--start-b: unknown command "gatway"/,
  ],
  [
    "a build with a target file that ends at once",
    ["own.yaml", "own.yaml", "--start-a", "true", "--start-b", "gauntlet gateway"],
    /--start-a: the build "true" ended with exit code 0 before it responded at http:\/\/127\.0\.0\.1:9\/v1\n {2}Try the command alone/,
    3,
  ],
])("refused: %s", async (_what, args, says, exitCode = 2) => {
  using folder = temporaryFolder();
  writeFileSync(join(folder.path, "own.yaml"), "baseUrl: http://127.0.0.1:9/v1\nkeys: { valid: env:GW_KEY }\n");
  const { code, stderr } = await gauntlet(["compare", ...args], { GW_KEY: "sk-any-key-of-yours" }, folder.path);
  expect(stderr).toMatch(says);
  expect(code).toBe(exitCode);
});

test("two builds in one session: short, but complete", async () => {
  using folder = temporaryFolder();
  const start = "gauntlet gateway --pieces 3 --limits 60000:1000";
  const { stdout, stderr, code } = await gauntlet(
    [
      ...["compare", "--start-a", `${start} --pace 20`, "--start-b", `${start} --pace 60`, "--pairs", "10"],
      ...["--block-s", "0.5", "--rate", "40", "--suites", "models", "--seed", "1", "--out", "run", "--json"],
    ],
    {},
    folder.path,
  );
  const { comparison } = JSON.parse(stdout);
  // The option in which the commands differ.
  expect([comparison.a.name, comparison.b.name]).toEqual(["pace 20", "pace 60"]);
  const record = JSON.parse(readFileSync(join(folder.path, "run", "run.json"), "utf8"));
  expect(record.verdict.headline).toMatch(/: pace 60 compared with pace 20$/);
  expect(stderr).not.toContain("Warning");
  // Each build was in every position about equally often, and every block counted.
  expect(comparison.order).toHaveLength(30);
  const median = comparison.metrics.find(({ name }: { name: string }) => name === "chat streaming response_ms p50");
  expect(median).toMatchObject({ pairs: 10, worse: "higher" });
  expect(median.a).toBeGreaterThan(50);
  expect(median.b / median.a).toBeGreaterThan(1.5);
  expect(comparison.control.metrics.length).toBe(comparison.metrics.length);
  // Such a small session may correctly be inconclusive, but it must not rate the slower build as equal.
  expect(["regressed", "inconclusive"]).toContain(comparison.verdict);
  expect([1, 4]).toContain(code);
}, 180_000);
