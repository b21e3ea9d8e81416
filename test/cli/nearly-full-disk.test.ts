// real-time: sends load, and judges how much of it was served in time
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { gauntlet, MAIN, temporaryFolder } from "../support/gauntlet.ts";

const LOAD = "name: small\narrivals: { kind: constant, ratePerS: 20, durationS: 1 }\n";

/** Runs a command while no file may grow beyond some KiB, which the kernel enforces: an almost full disk. */
async function withFilesOf(kib: number, command: readonly string[]) {
  const limited = [`ulimit -f ${kib * 2}; exec "$0" "$@"`, process.execPath, MAIN, ...command];
  const child = spawn("sh", ["-c", ...limited], {
    env: { ...process.env, NO_COLOR: "1" },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let stdout = "";
  let stderr = "";
  child.stdout.on("data", (bytes) => (stdout += bytes));
  child.stderr.on("data", (bytes) => (stderr += bytes));
  const [code] = await once(child, "close");
  return { code, stdout, stderr };
}

describe.skipIf(process.platform === "win32")("the disk is full when the run has ended", () => {
  test.each([
    ["the record", 60, "run.json"],
    // For one check the report is larger than the record.
    ["a report", 94, "report.html"],
  ])("while %s is written: the text has the exit code of the process", async (_what, kib, file) => {
    using folder = temporaryFolder();
    const out = join(folder.path, "run");
    const { code, stdout, stderr } = await withFilesOf(kib, [
      "conform",
      "--only",
      "models.list",
      "--target",
      "embedded",
      "--out",
      out,
    ]);
    expect(stderr).toContain(`${join(out, file)} can no longer be written: EFBIG`);
    expect(stdout).toMatch(/^INCONCLUSIVE: .*, but the run folder is incomplete\n .*can no longer be written: EFBIG/m);
    expect(stdout).toContain(`exit code 4 (inconclusive); ${out} could not be written in full`);
    expect(stdout).not.toMatch(/^PASS/m);
    expect(code).toBe(4);
    expect(existsSync(join(out, `${file}.part`))).toBe(false);
    // With free space again, the findings are shown.
    expect((await gauntlet(["report", out, "--print", "markdown"])).code).toBe(0);
  });

  test("a broken requirement stays broken", async () => {
    using folder = temporaryFolder();
    const command = ["conform", "models", "--mutation", "models.data-is-object", "--out", join(folder.path, "run")];
    const { code, stdout } = await withFilesOf(60, command);
    expect(stdout).toMatch(/^FAIL: /m);
    expect(stdout).toContain("exit code 4 (inconclusive); ");
    expect(code).toBe(4);
  });

  test("of a load, as text and as JSON", async () => {
    using folder = temporaryFolder();
    const file = join(folder.path, "small.yaml");
    writeFileSync(file, LOAD);
    const run = (name: string, ...more: string[]) =>
      withFilesOf(40, ["load", file, "--target", "embedded", "--out", join(folder.path, name), ...more]);
    const text = await run("a");
    // On a busy machine the load itself is inconclusive.
    expect(text.stdout).toMatch(/^INCONCLUSIVE: .*\n .*can no longer be written: EFBIG/m);
    expect(text.stdout).toContain("exit code 4 (inconclusive); ");
    const json = await run("b", "--json");
    expect(JSON.parse(json.stdout)).toMatchObject({
      verdict: "error",
      exitCode: 4,
      headline: expect.stringMatching(/^INCONCLUSIVE: /),
    });
    expect([text.code, json.code]).toEqual([4, 4]);
  });
});
