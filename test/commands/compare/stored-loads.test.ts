// real-time: sends load, and judges how much of it was served in time
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { gauntlet, temporaryFolder } from "../../support/gauntlet.ts";

/** `load.500-now-and-then` fails three of the 300 requests. */
const WORKLOAD = `name: quick
arrivals: { kind: constant, ratePerS: 100, durationS: 3 }
mix: [{ dialect: chat, stream: false, model: echo-fast, promptTokens: 5, maxTokens: 16 }]
`;

test("two stored loads: garbage is a regression, and the command is that of the second run", async () => {
  using folder = temporaryFolder();
  const at = folder.path;
  writeFileSync(join(at, "w.yaml"), WORKLOAD);
  const load = (out: string, ...more: string[]) => gauntlet(["load", "w.yaml", "--out", out, ...more], {}, at);
  await load("good", "--target", "embedded");
  await load("garbage", "--mutation", "chat.empty-success");
  await load("failing", "--mutation", "load.500-now-and-then");

  const itself = await gauntlet(["compare", "good", "good", "--out", "c0"], {}, at);
  expect(itself.stderr).toMatch(/good and good are the same run, \w+\n {2}Name the folders of two different runs/);
  expect(itself.code).toBe(2);
  expect(existsSync(join(at, "c0"))).toBe(false);

  expect((await gauntlet(["compare", "good", "garbage", "--out", "c1"], {}, at)).code).toBe(1);

  await gauntlet(["compare", "good", "failing", "--out", "c2"], {}, at);
  const command = /gauntlet load w\.yaml --target embedded --mutation load\.500-now-and-then --seed \d+/;
  expect(readFileSync(join(at, "c2", "summary.md"), "utf8")).toMatch(command);
  const page = readFileSync(join(at, "c2", "report.html"), "utf8");
  expect(command.test(page)).toBe(true);
  expect(page).not.toContain("gauntlet compare w.yaml");

  // The command has the folders as given, wherever they are.
  mkdirSync(join(at, "runs"));
  renameSync(join(at, "good"), join(at, "runs", "good"));
  await gauntlet(["compare", "runs/good", "failing", "--out", "c3"], {}, at);
  expect(readFileSync(join(at, "c3", "report.html"), "utf8").replace(/<[^>]*>/g, "")).toContain(
    "gauntlet compare runs/good failing",
  );
}, 120_000);
