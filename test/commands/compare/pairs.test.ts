import { expect, test } from "vitest";
import { gauntlet } from "../../support/gauntlet.ts";

test("the help names the smallest number of pairs, which the command enforces", async () => {
  const help = (await gauntlet(["compare", "--help"])).stdout.replace(/\s+/g, " ");
  const [, least] = /rounds, at least (\d+); /.exec(help) ?? [];
  const tooFew = [
    "--start-a",
    "gauntlet gateway",
    "--start-b",
    "gauntlet gateway",
    "--pairs",
    String(Number(least) - 1),
  ];
  const { stderr } = await gauntlet(["compare", ...tooFew]);
  expect(stderr).toMatch(/over \d+ figures/);
  expect(stderr).toContain(`--pairs ${least}`);
});
