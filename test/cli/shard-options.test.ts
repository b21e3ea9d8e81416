import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { main } from "../../src/cli/index.ts";
import { temporaryFolder } from "../support/gauntlet.ts";

const START = ["--start-at", "2026-01-31T12:00:00Z"];

test.each<[args: string[], says: string]>([
  [["--shard", "0/3", ...START], "--shard takes INDEX/COUNT, as in 3/8"],
  [["--shard", "4/3", ...START], "--shard takes INDEX/COUNT"],
  [["--shard", "1", ...START], "--shard takes INDEX/COUNT"],
  [["--shard", "1/3"], "--shard needs --start-at"],
  [START, "--start-at is for a shard"],
  [["--time-source", "http://127.0.0.1/"], "--time-source is for a shard"],
  [["--shard", "1/3", "--start-at", "tomorrow"], "--start-at takes a date and time with a zone"],
  [["--shard", "1/3", "--start-at", "2026-01-31T12:00:00"], "--start-at takes a date and time with a zone"],
  [["--shard", "1/3", "--start-at", "1769860800000"], "--start-at takes a date and time with a zone"],
  [["--shard", "1/3", "--start-at", "9999999999"], "is more than a day ahead"],
  [
    ["--shard", "1/3", ...START, "--time-source", "ntp.example"],
    "--time-source must be an http:// or https:// address",
  ],
  [["--shard", "1/3", ...START, "--workers", "2"], "--workers and --shard cannot be combined"],
  [["--shard", "1/3", ...START, "--engine", "autocannon"], "--shard needs the native engine"],
  [["--shard", "1/30", ...START], "few cannot be shared among 30: it has 20 requests"],
  [["starter", "--shard", "1/3", ...START], "shards share one workload"],
  [
    ["--shard", "1/3", ...START, "--policy", "p.yaml"],
    "--policy cannot be combined with --shard: it would judge one shard's share of the load\n  Omit --policy, and put thresholds into the workload: `gauntlet merge` judges the whole load by them.",
  ],
])("%j is refused before anything is sent", async (args, says) => {
  using folder = temporaryFolder();
  const workload = join(folder.path, "few.yaml");
  writeFileSync(workload, "name: few\narrivals: { kind: constant, ratePerS: 10, durationS: 2 }\n");
  const stderr: string[] = [];
  vi.spyOn(process.stderr, "write").mockImplementation((text) => stderr.push(String(text)) > 0);
  const code = await main(["load", workload, ...args]);
  vi.restoreAllMocks();
  expect([code, stderr.join("")]).toEqual([2, expect.stringContaining(says)]);
});

test("a tier has no shards", async () => {
  const stderr: string[] = [];
  vi.spyOn(process.stderr, "write").mockImplementation((text) => stderr.push(String(text)) > 0);
  const code = await main(["load", "starter", "--shard", "1/3", ...START]);
  vi.restoreAllMocks();
  expect([code, stderr.join("")]).toEqual([2, expect.stringContaining("starter is a tier run")]);
});
