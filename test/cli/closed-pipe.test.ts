import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { startGauntlet, temporaryFolder } from "../support/gauntlet.ts";

test("a closed pipe neither ends the run nor changes its verdict, and the record is complete", async () => {
  using folder = temporaryFolder();
  const out = join(folder.path, "run");
  await using running = startGauntlet(["conform", "--target", "embedded", "models", "--out", out], {}, folder.path);
  running.child.stdout?.destroy();
  running.child.stderr?.destroy();
  const { code } = await running.finished;
  expect(code).toBe(0);
  expect(existsSync(join(out, "run.json"))).toBe(true);
});

test("a long list into a pipe that is closed early ends quietly", async () => {
  await using running = startGauntlet(["checks", "--json"]);
  running.child.stdout?.destroy();
  const { code, stderr } = await running.finished;
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
});
