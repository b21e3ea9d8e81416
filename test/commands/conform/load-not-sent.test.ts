import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { startGateway } from "../../../src/reference-gateway/index.ts";
import { gauntlet, temporaryFolder } from "../../support/gauntlet.ts";

test("a run that may not send its load is incomplete, and says why", async () => {
  using folder = temporaryFolder();
  await using gateway = await startGateway({});
  const { baseUrl, keys, tiers } = gateway.ready;
  const target = {
    baseUrl,
    keys: { valid: "env:K" },
    limits: "scale",
    tiers: { starter: { key: "env:S" } },
    budget: { requests: 500, outputTokens: 1_000_000 },
  };
  writeFileSync(join(folder.path, "gauntlet.yaml"), JSON.stringify(target));
  const args = ["run", "--quick", "--out", "made", "--json"];
  const { stdout, code } = await gauntlet(args, { K: keys.valid, S: tiers.starter?.key ?? "" }, folder.path);
  const { checks } = JSON.parse(stdout);
  expect(code).toBe(4);
  expect(checks.filter(({ suite }: { suite: string }) => suite === "load")).toMatchObject([
    {
      id: "load.starter",
      status: "inconclusive",
      message: expect.stringMatching(
        /^no load was sent: the plan has [\d,]+ requests, the budget of the target is 500/,
      ),
    },
  ]);
});
