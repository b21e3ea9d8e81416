/**
 * How the duration of quick and full runs depends on the latency of the gateway. Tests the embedded gateway, one run at a time.
 *
 *     npm run build && npm run bench:latency [-- --full]
 */
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import yargs from "yargs";
import type { RunRecord } from "../src/record/index.ts";

const options = await yargs(process.argv.slice(2))
  .option("full", { type: "boolean", default: false })
  .strict()
  .parseAsync();
const PROGRAM = join(import.meta.dirname, "../dist/src/main.js");
const LATENCIES = {
  immediate: [],
  "0.5 s": ["latency.half-a-second"],
  "2 s": ["latency.two-seconds"],
  "5 s": ["latency.five-seconds"],
};

for (const kind of options.full ? ["quick", "full"] : ["quick"]) {
  for (const [latency, variants] of Object.entries(LATENCIES)) {
    const folder = mkdtempSync(join(tmpdir(), "gauntlet-bench-"));
    const args = ["conform", "--target", "embedded", "--seed", "1", "--out", join(folder, "run")];
    if (kind === "quick") args.push("--quick");
    const began = performance.now();
    spawnSync(process.execPath, [PROGRAM, ...args, ...variants.flatMap((id) => ["--variant", id])], {
      stdio: "ignore",
    });
    const seconds = (performance.now() - began) / 1_000;
    const record = JSON.parse(readFileSync(join(folder, "run/run.json"), "utf8")) as RunRecord;
    const others = record.checks.filter(({ status }) => !["pass", "observed", "not-applicable"].includes(status));
    console.log(
      `${kind}, first byte ${latency}: ${seconds.toFixed(0)} s, exit ${record.verdict.exitCode}, load average ${loadavg()[0]?.toFixed(1)}; not passed: ${others.map(({ id, status }) => `${id} ${status}`).join(", ") || "none"}`,
    );
    rmSync(folder, { recursive: true, force: true });
  }
}
