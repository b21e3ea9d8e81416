import { expect, test } from "vitest";
import { gauntlet } from "../../support/gauntlet.ts";

test("the help names the smallest number of pairs, which the command enforces", async () => {
  const help = (await gauntlet(["compare", "--help"])).stdout.replace(/\s+/g, " ");
  const [, least, figures] = /at least (\d+), because .* among the (\d+) figures/.exec(help) ?? [];
  const tooFew = [
    "--start-a",
    "gauntlet gateway",
    "--start-b",
    "gauntlet gateway",
    "--pairs",
    String(Number(least) - 1),
  ];
  const { stderr } = await gauntlet(["compare", ...tooFew]);
  expect(stderr).toContain(`over ${figures} figures`);
  expect(stderr).toContain(`--pairs ${least}`);
});
