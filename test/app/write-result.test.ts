import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { gauntlet, temporaryFolder } from "../support/gauntlet.ts";

const WORKLOAD = "name: w\narrivals: { kind: constant, ratePerS: 2, durationS: 60 }\n";

test("--out writes what the command printed, as a page and as JSON", { timeout: 60_000 }, async () => {
  using folder = temporaryFolder();
  writeFileSync(join(folder.path, "w.yaml"), WORKLOAD);
  const size = await gauntlet(["size", "w.yaml", "--out", "sized"], {}, folder.path);
  expect(size.stdout).toMatch(/smallest tier: starter\nreport: sized\/report\.html\n$/);
  expect(readFileSync(join(folder.path, "sized/report.html"), "utf8")).toContain("smallest tier: starter");
  expect(JSON.parse(readFileSync(join(folder.path, "sized/result.json"), "utf8"))).toMatchObject({ workload: "w" });

  const search = ["--objective", "failed < 5%", "--from", "5", "--to", "5", "--step-s", "2", "--minutes", "0.1"];
  const capacity = await gauntlet(["capacity", "--target", "embedded", ...search, "--out", "found"], {}, folder.path);
  expect(capacity.stdout).toMatch(/^exit code 4 \(inconclusive\); report: found\/report\.html\n$/m);
  const page = readFileSync(join(folder.path, "found/report.html"), "utf8");
  expect(page).toMatch(
    /Inconclusive[\s\S]*No limit found\. The highest level tried, 5 requests\/s, met the objective \(failed &lt; 5%\)/,
  );

  const file = await gauntlet(["size", "w.yaml", "--out", "w.yaml/x"], {}, folder.path);
  expect([file.code, file.stderr]).toEqual([2, expect.stringContaining("--out: w.yaml/x cannot be created")]);
});
