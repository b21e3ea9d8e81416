// How long `npm start` takes after its set-up: until the verdict of the first suite, and in total. Writes docs/npm-start.json,
// which the README repeats. The machine must be idle.
//
//   npm run verify start
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { cpus, tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { RunRecord } from "../../../src/record/index.ts";
import { ROOT } from "../../docs/generated-files.ts";

/**
 * The promised times, seconds. A tier alone takes 136: its rate window is filled, waited for and then overloaded for a minute.
 */
const FIRST_VERDICT_S = 30;
const WHOLE_S = 180;

/** Content of docs/npm-start.json. */
export interface StartTimes {
  readonly measuredOn: string;
  readonly machine: string;
  /** From the end of the set-up to the verdict of the first suite; `null`: not measured. */
  readonly firstVerdictS: number | null;
  /** From the end of the set-up to the end. */
  readonly wholeS: number;
  readonly requests: number;
  readonly checks: Readonly<Record<string, number>>;
  readonly exitCode: number;
}

async function measure(folder: string) {
  const startMs = performance.now();
  const sinceS = () => Number(((performance.now() - startMs) / 1_000).toFixed(1));
  const args = [join(ROOT, "dist", "src", "main.js"), "run", "--target", "embedded", "--out", folder];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "ignore", "pipe"] });
  const ended = once(child, "close");
  let firstVerdictS = Number.NaN;
  for await (const line of createInterface({ input: child.stderr })) {
    console.log(`${String(sinceS()).padStart(6)} s  ${line}`);
    if (Number.isNaN(firstVerdictS) && /: (PASS|FAIL|INCONCLUSIVE) \(/.test(line)) firstVerdictS = sinceS();
  }
  await ended;
  const wholeS = sinceS();
  const record = JSON.parse(readFileSync(join(folder, "run.json"), "utf8")) as RunRecord;
  const checks: Record<string, number> = {};
  for (const { status } of record.checks) checks[status] = (checks[status] ?? 0) + 1;
  const found = {
    measuredOn: record.startedAt.slice(0, 10),
    machine: `${cpus()[0]?.model ?? "unknown processor"}, ${cpus().length} cores, Node ${process.versions.node}`,
    firstVerdictS,
    wholeS,
    requests: record.traffic.requests,
    checks,
    exitCode: child.exitCode ?? -1,
  };
  return found satisfies StartTimes;
}

const built = spawnSync("npm", ["run", "--silent", "build"], { cwd: ROOT, stdio: ["ignore", "ignore", "inherit"] });
if (built.status !== 0) throw new Error(`the build ended with ${built.status}`);
const folder = mkdtempSync(join(tmpdir(), "gauntlet-start-"));
const times = await measure(join(folder, "run"));
rmSync(folder, { recursive: true, force: true });
const problems = [
  ...(times.firstVerdictS <= FIRST_VERDICT_S
    ? []
    : [`first verdict after ${times.firstVerdictS} s, not ${FIRST_VERDICT_S}`]),
  ...(times.wholeS <= WHOLE_S ? [] : [`ended after ${times.wholeS} s, not ${WHOLE_S}`]),
  ...(times.exitCode === 0 ? [] : [`exit code ${times.exitCode}, not 0`]),
];
for (const problem of problems) console.log(`FAIL ${problem}`);
if (problems.length === 0) writeFileSync(join(ROOT, "docs", "npm-start.json"), `${JSON.stringify(times, null, 2)}\n`);
console.log(`first verdict after ${times.firstVerdictS} s, end after ${times.wholeS} s, ${times.requests} requests`);
process.exitCode = problems.length === 0 ? 0 : 1;
