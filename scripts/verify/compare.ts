import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Comparison } from "../../src/record/index.ts";
import { gauntlet } from "../../test/support/gauntlet.ts";

// `npm run verify compare`: the reference gateway against itself and against builds that differ. Each session takes about two
// minutes, and the machine should be idle.

const GATEWAY = "gauntlet gateway --pieces 6 --limits 60000:1000";
const BASE = `${GATEWAY} --pace 20`;

interface Case {
  readonly what: string;
  readonly start: string;
  /** Whether the session reported what it should. */
  readonly holds: (comparison: Comparison) => boolean;
  readonly times: number;
}

const regressedIn = (name: RegExp) => (comparison: Comparison) =>
  comparison.verdict === "regressed" &&
  comparison.metrics.some((metric) => metric.verdict === "regressed" && name.test(metric.name));
const driftIn = (what: RegExp) => (comparison: Comparison) => comparison.drift.some((entry) => what.test(entry.what));

const CASES: readonly Case[] = [
  { what: "itself", start: BASE, holds: ({ verdict }) => verdict !== "regressed", times: 10 },
  { what: "15 % slower", start: `${GATEWAY} --pace 23`, holds: regressedIn(/chat streaming response_ms/), times: 1 },
  {
    what: "a slower first token",
    start: `${BASE} --variant http.slow-first-byte`,
    holds: regressedIn(/ttft_ms/),
    times: 1,
  },
  {
    what: "headers that went away",
    start: `${BASE} --variant http.no-optional-headers`,
    holds: driftIn(/^x-request-id$/),
    times: 1,
  },
  {
    what: "a lost field",
    start: `${BASE} --mutation chat.usage-missing`,
    holds: (comparison) => comparison.verdict === "regressed" && driftIn(/^\/usage$/)(comparison),
    times: 1,
  },
];

/** Only the cases whose name contains one of these words; none: all. */
const words = process.argv.slice(2);

let failed = 0;
for (const { what, start, holds, times } of CASES) {
  if (words.length > 0 && !words.some((word) => what.includes(word))) continue;
  for (let time = 1; time <= times; time++) {
    const folder = mkdtempSync(join(tmpdir(), "gauntlet-compare-"));
    const out = join(folder, "run");
    const session = ["--pairs", "10", "--block-s", "3", "--rate", "90", "--suites", "chat", "--suites", "models"];
    const ended = await gauntlet([
      "compare",
      "--start-a",
      BASE,
      "--start-b",
      start,
      ...session,
      "--seed",
      String(time),
      "--out",
      out,
    ]);
    const { comparison } = JSON.parse(readFileSync(join(out, "run.json"), "utf8")) as { comparison: Comparison };
    const good = holds(comparison);
    if (!good) failed++;
    const outcome = `${comparison.verdict}, exit code ${ended.code}: ${comparison.reasons
      .map(({ text }) => text)
      .join("; ")
      .slice(0, 300)}`;
    process.stdout.write(`${good ? "ok  " : "BAD "} ${what} ${time}/${times}: ${outcome}\n`);
    rmSync(folder, { recursive: true });
  }
}
process.stdout.write(`${failed === 0 ? "all as they should be" : `${failed} not as they should be`}\n`);
process.exitCode = failed === 0 ? 0 : 1;
