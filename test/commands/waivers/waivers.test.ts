// real-time: checks fill the limits of a minute and wait for Retry-After
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { gauntlet, temporaryFolder } from "../../support/gauntlet.ts";

const CHECK = "auth.unknown-key[chat]";
const run = (folder: string, name: string, mutation: string, ...more: string[]) =>
  gauntlet(
    [
      "conform",
      "--target",
      "embedded",
      "--only",
      CHECK,
      "--out",
      name,
      ...(mutation === "" ? [] : ["--mutation", mutation]),
      ...more,
    ],
    {},
    folder,
  );

describe("waivers, from the failure to the day they become stale", () => {
  test("suggested, filled in, applied, preserved by rejudge, and failing the run when stale", async () => {
    using folder = temporaryFolder();
    const { path } = folder;
    const file = join(path, "waivers.yaml");
    const mutation = "auth.unknown-key-403";
    expect((await run(path, "a", mutation)).code).toBe(1);
    const suggested = (await gauntlet(["waivers", "suggest", "a"], {}, path)).stdout;
    writeFileSync(file, suggested);
    const empty = await run(path, "b", mutation, "--waivers", file);
    expect(empty.code).toBe(2);
    expect(empty.stderr).toMatch(/waivers\.yaml:\d+:\d+ \(waivers\.0\.reason\): must not be empty/);

    writeFileSync(file, suggested.replaceAll('""', "known to the team"));
    const waived = await run(path, "c", mutation, "--waivers", file);
    expect(waived.stdout).toMatch(/^PASS: embedded reference gateway at http:\S+ \(1 failure waived\)$/m);
    expect(waived.stdout).toContain("✗ fail auth.unknown-key[chat]");
    expect(waived.code).toBe(0);
    const record = JSON.parse(readFileSync(join(path, "c", "run.json"), "utf8"));
    expect(record.checks).toMatchObject([{ status: "fail", waived: { reason: "known to the team" } }]);
    expect((await gauntlet(["rejudge", "c"], {}, path)).code).toBe(0);

    const other = await run(path, "d", "auth.messages-with-any-key", "--waivers", file);
    expect(other.stdout).toContain("waiver stale");
    expect(other.code).toBe(1);
    expect((await gauntlet(["rejudge", "d"], {}, path)).code).toBe(1);

    const different = await run(path, "e", "denial.unnamed-now-and-then", "--repeat", "3", "--waivers", file);
    expect(different.stdout).toContain("waiver differently-failing");
    expect(different.code).toBe(1);

    writeFileSync(file, readFileSync(file, "utf8").replace(/expires: .*/, "expires: 2020-01-01"));
    const expired = await run(path, "f", mutation, "--waivers", file);
    expect(expired.stdout).toMatch(/✗ waiver expired: .*waivers\.yaml:\d+: .* expired on 2020-01-01/);
    expect(expired.code).toBe(1);

    writeFileSync(file, readFileSync(file, "utf8").replace("unknown-key[chat]", "unknown-kee[chat]"));
    const unmatched = await run(path, "g", "", "--waivers", file);
    expect(unmatched.stdout).toMatch(/waiver unmatched: .*did you mean "auth\.unknown-key\[chat\]"/);
    expect(unmatched.code).toBe(1);
  });
});

test("a verdict that flips from round to round is flaky and fails the run, even when judged again", async () => {
  using folder = temporaryFolder();
  const { code, stdout } = await gauntlet(
    ["conform", "--only", "auth.missing-key[chat]", "--repeat", "4", "--out", "r", "--json"].concat(
      "--mutation",
      "denial.unnamed-now-and-then",
    ),
    {},
    folder.path,
  );
  const { checks, headline } = JSON.parse(stdout);
  expect(checks).toMatchObject([{ status: "flaky", message: expect.stringMatching(/^[123] of 4 times: /) }]);
  expect(headline).toContain("4 rounds");
  expect(code).toBe(1);
  const again = await gauntlet(["rejudge", "r", "--json"], {}, folder.path);
  expect(JSON.parse(again.stdout)).toMatchObject({ changed: [], checks: [{ status: "flaky" }] });
  expect(again.code).toBe(1);
});

test("a dry run says what would be sent, per suite, and sends nothing", async () => {
  using folder = temporaryFolder();
  writeFileSync(join(folder.path, "t.yaml"), "baseUrl: http://127.0.0.1:9/v1\nkeys: { valid: env:K }\n");
  const { code, stdout } = await gauntlet(
    ["conform", "auth", "limits", "--target", "t.yaml", "--dry-run", "--repeat", "2", "--json"],
    { K: "sk-1" },
    folder.path,
  );
  expect(code).toBe(0);
  const plan = JSON.parse(stdout);
  expect(plan.rounds).toBe(2);
  expect(plan.suites.map(({ suite }: { suite: string }) => suite)).toEqual(["auth", "limits"]);
  // Both rounds, and the reserve for requests that no check declares.
  expect(plan.requests).toBeGreaterThan(2 * plan.suites[0].requests);
  expect(plan.requests).toBeLessThan(3 * plan.suites[0].requests);
  expect(plan.suites[0].requests).toBeGreaterThan(40);
  // An invariant, which only judges the traffic of others, needs nothing and is not blocked.
  expect(plan.suites[1].requests).toBe(0);
  expect(plan.suites[1].blocked).toBeGreaterThan(15);
});

test("what a dry run says is close to what a run sends", async () => {
  using folder = temporaryFolder();
  const plan = JSON.parse(
    (await gauntlet(["conform", "auth", "models", "chat", "--target", "embedded", "--dry-run", "--json"])).stdout,
  );
  await gauntlet(["conform", "--target", "embedded", "auth", "models", "chat", "--out", "r"], {}, folder.path);
  const { traffic } = JSON.parse(readFileSync(join(folder.path, "r", "run.json"), "utf8"));
  expect(traffic.requests).toBeGreaterThan(plan.requests * 0.65);
  expect(traffic.requests).toBeLessThan(plan.requests * 1.3);
});
