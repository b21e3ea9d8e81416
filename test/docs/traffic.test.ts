import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { gauntlet, temporaryFolder } from "../support/gauntlet.ts";

const page = readFileSync(new URL("../../docs/traffic.md", import.meta.url), "utf8");
const workloads = [...page.matchAll(/^```yaml\n(name: [\s\S]*?)^```/gm)].map(([, text = ""]) => text);

test.each([
  ["smallest", 50],
  ["assistant", 6_000],
])("the workload %s of docs/traffic.md plans %d requests", async (name, requests) => {
  using folder = temporaryFolder();
  const text = workloads.find((one) => one.startsWith(`name: ${name}\n`)) ?? "";
  writeFileSync(join(folder.path, "workload.yaml"), text);
  writeFileSync(join(folder.path, "output-lengths.txt"), "20\n300\n");
  const { code, stdout, stderr } = await gauntlet(
    ["load", "workload.yaml", "--target", "embedded", "--dry-run"],
    {},
    folder.path,
  );
  expect(code, stderr).toBe(0);
  const planned = /\((\w+)\): at most ([\d,]+) requests/.exec(stdout) ?? [];
  expect(planned[1]).toBe(name);
  expect(Number(planned[2]?.replaceAll(",", ""))).toBeGreaterThanOrEqual(requests * 0.9);
  expect(Number(planned[2]?.replaceAll(",", ""))).toBeLessThanOrEqual(requests * 1.1);
});
