// How long `npm start` takes after its set-up: until the first verdict, which the quick checks give, and in total. Writes
// docs/internal/measured/npm-start.json, which the README repeats. The machine must be idle.
//
//   npm run verify start
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { cpus, tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import type { RunRecord } from "../../../src/record/index.ts";
import { ROOT } from "../../docs/generated-files.ts";

/**
 * The promised times, seconds. A tier alone takes 136: its rate window is filled, waited for and then overloaded for a minute.
 */
const FIRST_VERDICT_S = 30;
const WHOLE_S = 210;

/** Content of docs/internal/measured/npm-start.json. */
export interface StartTimes {
  readonly measuredOn: string;
  readonly machine: string;
  /** From the end of the set-up to the first verdict; `null`: not measured. */
  readonly firstVerdictS: number | null;
  /** The whole run, as its summary says. */
  readonly runS: number;
  /** From the end of the set-up to the end. */
  readonly wholeS: number;
  readonly requests: number;
  readonly checks: Readonly<Record<string, number>>;
  readonly exitCode: number;
}

async function measure(folder: string) {
  let startMs = performance.now();
  const sinceS = () => Number(((performance.now() - startMs) / 1_000).toFixed(1));
  const child = spawn(process.execPath, [join(ROOT, "scripts", "start.mjs")], {
    cwd: folder,
    stdio: ["ignore", "pipe", "pipe"],
  });
  const ended = once(child, "close");
  // The set-up is not measured: it ends when the first part is announced.
  createInterface({ input: child.stderr }).on("line", (line) => {
    if (line.startsWith("First verdict")) startMs = performance.now();
    console.log(`${String(sinceS()).padStart(6)} s  ${line}`);
  });
  let firstVerdictS = Number.NaN;
  let report = "";
  for await (const line of createInterface({ input: child.stdout })) {
    console.log(`${String(sinceS()).padStart(6)} s  ${line}`);
    if (Number.isNaN(firstVerdictS) && /^(PASS|FAIL|INCONCLUSIVE): /.test(line)) firstVerdictS = sinceS();
    report = /; report: (\S+)$/.exec(line)?.[1] ?? report;
  }
  await ended;
  const wholeS = sinceS();
  const record = JSON.parse(readFileSync(join(folder, dirname(report), "run.json"), "utf8")) as RunRecord;
  const checks: Record<string, number> = {};
  for (const { status } of record.checks) checks[status] = (checks[status] ?? 0) + 1;
  const found = {
    measuredOn: record.startedAt.slice(0, 10),
    machine: `${cpus()[0]?.model ?? "unknown processor"}, ${cpus().length} cores, Node ${process.versions.node}`,
    firstVerdictS,
    runS: Number((record.durationMs / 1_000).toFixed(1)),
    wholeS,
    requests: record.traffic.requests,
    checks,
    exitCode: child.exitCode ?? -1,
  };
  return found satisfies StartTimes;
}

const folder = mkdtempSync(join(tmpdir(), "gauntlet-start-"));
const times = await measure(folder);
rmSync(folder, { recursive: true, force: true });
const problems = [
  ...(times.firstVerdictS <= FIRST_VERDICT_S
    ? []
    : [`first verdict after ${times.firstVerdictS} s, not ${FIRST_VERDICT_S}`]),
  ...(times.wholeS <= WHOLE_S ? [] : [`ended after ${times.wholeS} s, not ${WHOLE_S}`]),
  ...(times.exitCode === 0 ? [] : [`exit code ${times.exitCode}, not 0`]),
];
for (const problem of problems) console.log(`FAIL ${problem}`);
// A run that failed or printed no verdict is not a valid measurement. A slow run is.
if (times.exitCode === 0 && Number.isFinite(times.firstVerdictS))
  writeFileSync(join(ROOT, "docs", "internal", "measured", "npm-start.json"), `${JSON.stringify(times, null, 2)}\n`);
console.log(`first verdict after ${times.firstVerdictS} s, end after ${times.wholeS} s, ${times.requests} requests`);
process.exitCode = problems.length === 0 ? 0 : 1;
