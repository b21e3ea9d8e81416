import { expect, test } from "vitest";
import { gauntlet } from "../support/gauntlet.ts";

test.each([
  [["load", "own", "--target", "embedded", "--seed", "abc"], /--seed/],
  [["conform", "--target", "embedded", "--seed", "1.5"], /--seed/],
  [["conform", "--target", "embedded", "--repeat", "0"], /--repeat/],
  [["limits", "--target", "embedded", "--minutes", "-1"], /--minutes/],
  [["load", "own", "--target", "embedded", "--workers", "none"], /--workers/],
])("%j is refused before anything is sent", async (args, says) => {
  const { code, stderr, stdout } = await gauntlet(args);
  expect(stderr).toMatch(says);
  expect(stdout).toBe("");
  expect(stderr).not.toMatch(/at most [\d,]+ requests|check instances$/m);
  expect(code).toBe(2);
});
