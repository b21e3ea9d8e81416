// real-time: ends processes at a moment of their work
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { gauntlet, startGauntlet, temporaryFolder } from "../support/gauntlet.ts";
import { unzipped } from "../support/run-files.ts";

const KEY = { GW_KEY: "sk-a-key-of-a-test-1" };
const NOBODY = "baseUrl: http://127.0.0.1:9/v1\nkeys: { valid: env:GW_KEY }\nlimits: starter\n";

/** Commands that need a target, and their other required options. */
const WITH_TARGET: readonly (readonly string[])[] = [
  ["conform"],
  ["run"],
  ["load", "own"],
  ["limits"],
  ["capacity", "--objective", "failed < 1%"],
  ["size", "soak", "--verify"],
  ["doctor"],
];

/** Only the document on stdout, and its error. @throws if stdout holds anything else. */
function errorOf({ stdout }: { readonly stdout: string }) {
  expect(stdout.trimEnd().split("\n")).toHaveLength(1);
  return JSON.parse(stdout);
}

describe("with --json every ending is one document on stdout", () => {
  test.each(WITH_TARGET)("%s: nothing responds", async (...command) => {
    using folder = temporaryFolder();
    writeFileSync(join(folder.path, "gauntlet.yaml"), NOBODY);
    const done = await gauntlet([...command, "--json", "--target", "gauntlet.yaml"], KEY, folder.path);
    const expected = { verdict: "error", exitCode: 3, error: { code: "TARGET_UNREACHABLE", hint: expect.any(String) } };
    expect(errorOf(done)).toMatchObject(expected);
    expect(done.code).toBe(3);
  });

  test.each(WITH_TARGET)("%s: a target file with an unknown key", async (...command) => {
    using folder = temporaryFolder();
    writeFileSync(join(folder.path, "gauntlet.yaml"), `${NOBODY}nonsense: 1\n`);
    const done = await gauntlet([...command, "--json", "--target", "gauntlet.yaml"], KEY, folder.path);
    const error = { code: "CONFIG", message: expect.stringContaining("nonsense") };
    expect(errorOf(done)).toMatchObject({ verdict: "error", exitCode: 2, error });
    expect(done.code).toBe(2);
  });

  test.each([
    [["conform", "--json", "--unheard-of"]],
    [["checks", "--json", "--suite", "nowhere.js"]],
    [["rejudge", "nowhere", "--json"]],
    [["client", "--json"]],
    [["compare", "--json"]],
    [["k6", "plan", "--json", "--rate", "none", "--in-flight", "1"]],
    [["gateway", "--json", "--limits", "many"]],
    [["calibrate", "--json", "--seconds", "0"]],
    [["no-such-command", "--json"]],
  ])("a usage error: %j", async (command) => {
    const done = await gauntlet(command);
    const error = { code: "USAGE", message: expect.any(String) };
    expect(errorOf(done)).toMatchObject({ verdict: "error", exitCode: 2, error });
    expect(done.code).toBe(2);
  });

  test("an unexpected error", async () => {
    using folder = temporaryFolder();
    const text =
      "setTimeout(() => { throw new Error('unforeseen'); }, 0); await new Promise((r) => setTimeout(r, 9e4));";
    writeFileSync(join(folder.path, "own.mjs"), text);
    const done = await gauntlet(["checks", "--json", "--suite", "own.mjs"], {}, folder.path);
    const error = { code: "INTERNAL", message: expect.stringContaining("unforeseen"), hint: null };
    expect(errorOf(done)).toMatchObject({ verdict: "error", exitCode: 5, error });
    expect(done.code).toBe(5);
  });

  test.each([
    ["SIGINT", 130, "started"],
    ["SIGTERM", 143, "check-started"],
  ] as const)("%s: exit code %i", async (signal, exitCode, event) => {
    using folder = temporaryFolder();
    const out = join(folder.path, "run");
    const journal = join(out, "journal.ndjson.gz");
    await using running = startGauntlet(["conform", "limits", "--target", "embedded", "--json", "--out", out]);
    const isThere = () => unzipped(journal).includes(`"${event}"`);
    await expect.poll(isThere, { timeout: 30_000 }).toBe(true);
    running.child.kill(signal);
    const done = await running.finished;
    expect(errorOf(done)).toMatchObject({ verdict: expect.any(String), exitCode });
    expect(done.code).toBe(exitCode);
  });
});
