// real-time: sends load, and judges how much of it was served in time
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, expect, test } from "vitest";

const MAIN = fileURLToPath(new URL("../../dist/src/main.js", import.meta.url));
const pins = spawnSync("taskset", ["-c", "0", "true"]).status === 0;

const neighbours: ChildProcess[] = [];
const folder = mkdtempSync(join(tmpdir(), "gauntlet-starved-"));
afterEach(() => {
  for (const neighbour of neighbours) neighbour.kill("SIGKILL");
  rmSync(folder, { recursive: true, force: true });
});

// Only if processes can be pinned to one core: this reliably starves a generator.
test.skipIf(!pins)(
  "a starved generator is inconclusive, never a verdict about the gateway",
  { timeout: 90_000 },
  () => {
    for (let count = 0; count < 4; count++)
      neighbours.push(spawn("taskset", ["-c", "0", process.execPath, "-e", "for (;;);"], { stdio: "ignore" }));
    const file = join(folder, "w.yaml");
    writeFileSync(
      file,
      "name: w\narrivals: { kind: constant, ratePerS: 2000, durationS: 4 }\nallow: { deniedShare: 1 }\n",
    );
    const run = spawnSync(
      "taskset",
      ["-c", "0", process.execPath, MAIN, "load", file, "--target", "embedded", "--json", "--out", join(folder, "run")],
      {
        encoding: "utf8",
        timeout: 80_000,
      },
    );
    const document = JSON.parse(run.stdout) as { verdict: string; exitCode: number; generator: { problems: string[] } };
    expect(run.status).toBe(4);
    expect(document).toMatchObject({ verdict: "inconclusive", exitCode: 4 });
    expect(document.generator.problems.length).toBeGreaterThan(0);
    const { verdict } = JSON.parse(readFileSync(join(folder, "run", "run.json"), "utf8"));
    const texts = verdict.reasons.map(({ text }: { readonly text: string }) => text);
    expect(texts).toEqual([expect.stringMatching(/^inconclusive: this machine was too busy to judge timing: /)]);
  },
);
