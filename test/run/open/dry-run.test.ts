import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { gauntlet, temporaryFolder } from "../../support/gauntlet.ts";

test.each([
  ["load", "starter"],
  ["conform", "auth"],
])("%s %s --dry-run needs no key, but a real run does", async (command, what) => {
  using folder = temporaryFolder();
  const target = "baseUrl: http://127.0.0.1:9/v1\nkeys: { valid: env:NOT_SET }\nmodels: { chat: m }\nlimits: starter\n";
  writeFileSync(join(folder.path, "t.yaml"), target);
  const ran = (...more: string[]) => gauntlet([command, what, "--target", "t.yaml", ...more], {}, folder.path);
  const plan = await ran("--dry-run");
  expect([plan.code, plan.stdout], plan.stderr).toEqual([0, expect.stringMatching(/\d+ requests/)]);
  const { code, stderr } = await ran();
  expect([code, stderr]).toEqual([2, expect.stringContaining("environment variable NOT_SET is not set")]);
});
