import { expect, test } from "vitest";
import { gauntlet } from "../support/gauntlet.ts";

test("in GitHub Actions, an error before there is a verdict annotates the job", async () => {
  const args = ["conform", "--target", "no%20file.yaml"];
  const { code, stderr } = await gauntlet(args, { GITHUB_ACTIONS: "true" });
  expect(code).toBe(2);
  const commands = stderr.split("\n").filter((line) => line.startsWith("::"));
  expect(commands).toHaveLength(1);
  expect(commands[0]).toMatch(/^::error title=Gauntlet::.*no%2520file\.yaml/);
  const locally = await gauntlet(args);
  expect(locally.stderr).not.toContain("\n::error title=");
});
