import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { gauntlet, temporaryFolder } from "../../support/gauntlet.ts";

const WRITTEN = ["report.html", "junit.xml", "ctrf.json", "summary.md"];

test("a run leaves its reports, and they are rendered again byte for byte", async () => {
  using folder = temporaryFolder();
  const run = join(folder.path, "run");
  const mutation = ["--mutation", "auth.revoked-403"];
  expect((await gauntlet(["conform", "auth", ...mutation, "--seed", "7", "--out", run])).code).toBe(1);
  const before = new Map(WRITTEN.map((name) => [name, readFileSync(join(run, name), "utf8")]));
  const page = before.get("report.html");
  // Evidence, its control request, the key as a variable, and the command that reruns only this with the same mutation.
  expect(page?.includes("Its control request")).toBe(true);
  expect(page?.includes("Bearer $GAUNTLET_KEY_REVOKED")).toBe(true);
  const again = page?.match(/gauntlet conform --only[^<]*/g) ?? [];
  expect(again[0]).toMatch(
    /^gauntlet conform --only 'auth\.revoked\[models\]' --target embedded --mutation auth\.revoked-403 --seed 7$/,
  );
  for (const name of WRITTEN) rmSync(join(run, name));
  const { code, stdout } = await gauntlet(["report", run], { TZ: "Pacific/Auckland", LANG: "de_DE.UTF-8" });
  expect(code).toBe(0);
  expect(stdout.trimEnd().split("\n")).toEqual(WRITTEN.map((name) => join(run, name)));
  for (const [name, text] of before) expect(readFileSync(join(run, name), "utf8") === text, name).toBe(true);
});

test("other formats, the folder, and printing", async () => {
  using folder = temporaryFolder();
  const run = join(folder.path, "run");
  await gauntlet(["conform", "--target", "embedded", "models", "--out", run]);
  const several = await gauntlet(["report", run, "--format", "sarif", "--format", "html", "--layout", "folder"]);
  expect(several.code).toBe(0);
  expect(JSON.parse(readFileSync(join(run, "report.sarif"), "utf8")).version).toBe("2.1.0");
  expect(readdirSync(join(run, "report")).sort()).toEqual(["index.html", "report.css", "report.js"]);
  const printed = await gauntlet(["report", run, "--print", "annotations"]);
  expect(printed.stdout).toMatch(/^::notice title=Gauntlet::PASS: embedded reference gateway at http\S+\n$/);
  expect(JSON.parse((await gauntlet(["report", run, "--print", "json"])).stdout)).toMatchObject({ verdict: "pass" });
  expect((await gauntlet(["report", run, "--print", "terminal"])).stdout).toContain("PASS: embedded");
  expect((await gauntlet(["report", folder.path])).code).toBe(2);
  expect((await gauntlet(["report", run, "--format", "pdf"])).code).toBe(2);
});

test("printed for the terminal, a load shows its latencies and thresholds again, as its command did", async () => {
  using folder = temporaryFolder();
  const run = join(folder.path, "run");
  const workload = join(folder.path, "short.yaml");
  writeFileSync(
    workload,
    `name: short
arrivals: { kind: constant, ratePerS: 40, durationS: 2 }
mix: [{ dialect: chat }]
thresholds: ["response_ms p50 < 60000"]
`,
  );
  const load = await gauntlet(["load", workload, "--target", "embedded", "--out", run]);
  const printed = await gauntlet(["report", run, "--print", "terminal"]);
  expect(load.stdout).toContain("response_ms p50 < 60000: ");
  expect(printed.stdout).toBe(load.stdout);
});

test("llm-d describes load, and a run without load is an error", async () => {
  using folder = temporaryFolder();
  const run = join(folder.path, "run");
  await gauntlet(["conform", "--target", "embedded", "models", "--out", run]);
  const { code, stderr } = await gauntlet(["report", run, "--format", "llm-d"]);
  expect(code).toBe(2);
  expect(stderr).toContain(`${run} has no load results, and --format llm-d describes nothing else`);
});
