/**
 * Measures servers that wait, and record for how long, with `gauntlet overhead`: how far its results are from the truth, how
 * often its intervals cover the truth, and how often the upstream differs from itself.
 *
 *     npm run verify overhead-truth                40 runs, about 35 minutes, on an idle machine
 *     npm run verify overhead-truth -- --runs 5    one of each delay
 */
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import yargs from "yargs";
import type { AddedDifference, OverheadLevel } from "../../../src/record/index.ts";
import { startDelayedProvider } from "../../../test/support/start-delayed-provider.ts";

const { runs, delays } = await yargs(process.argv.slice(2))
  .option("runs", { type: "number", default: 40 })
  .option("delays", { type: "number", array: true, default: [0, 200, 1_000, 5_000, 40_000], describe: "microseconds" })
  .strict()
  .parseAsync();

const MAIN = join(import.meta.dirname, "../../../dist/src/main.js");
/** A report is correct within 60 µs or a tenth. */
const RIGHT_MS = 0.06;
const RIGHT_SHARE = 0.1;

const folder = mkdtempSync(join(tmpdir(), "gauntlet-overhead-"));
const counts = new Map<string, { of: number; right: number; covered: number }>();
let same = 0;
let decided = 0;
for (let run = 0; run < runs; run++) {
  const delayUs = delays[run % delays.length] ?? 0;
  await using direct = await startDelayedProvider({ response: 0, first: 0, each: 0 });
  await using through = await startDelayedProvider({ response: delayUs, first: delayUs, each: delayUs });
  const document = measure(targetFile("direct", direct.origin), targetFile("through", through.origin), run);
  const found = (stream: boolean) => document.arms[0]?.levels.find((level) => level.stream === stream);
  const [late, soon] = await Promise.all([through.taken(), direct.taken()]);
  note("response", late.response - soon.response, found(false)?.addedMs.p50);
  note("first token", late.first - soon.first, found(true)?.addedTtftMs?.p50);
  note("gap", late.each - soon.each, found(true)?.addedGapMs?.p50);
  decided++;
  same += Number(document.control.fit);
}
rmSync(folder, { recursive: true, force: true });
let failed = same < decided * 0.95;
for (const [name, { of, right, covered }] of counts) {
  console.log(`${name}: ${right} of ${of} within 60 µs or 10 %, the interval covers the truth in ${covered}`);
  failed ||= right < of || covered < of * 0.9;
}
console.log(`direct against direct: no difference in ${same} of ${decided}`);
process.exitCode = failed ? 1 : 0;

function targetFile(name: string, origin: string): string {
  const path = join(folder, `${name}.yaml`);
  const lines = [
    `name: ${name}`,
    `baseUrl: ${origin}/v1`,
    "keys: { valid: env:GAUNTLET_TRUTH_KEY }",
    "models: { chat: m }",
  ];
  writeFileSync(path, `${lines.join("\n")}\ndialects: [chat]\n`);
  return path;
}

interface Document {
  readonly arms: readonly { readonly levels: readonly OverheadLevel[] }[];
  readonly control: { readonly fit: boolean };
}

function measure(direct: string, through: string, run: number): Document {
  const out = join(folder, String(run));
  const args = ["--target", through, "--direct", direct, "--concurrency", "1", "--prompt-bytes", "1000", "--out", out];
  const { stdout, stderr } = spawnSync(
    process.execPath,
    [MAIN, "overhead", ...args, "--no-frontier", "--anyway", "--json"],
    {
      encoding: "utf8",
      env: { ...process.env, GAUNTLET_TRUTH_KEY: "truth-key-1" },
    },
  );
  if (stdout === "") throw new Error(stderr);
  return JSON.parse(stdout) as Document;
}

function note(what: string, delayUs: number, found: AddedDifference | undefined): void {
  const truthMs = delayUs / 1_000;
  if (found === undefined || found.value === null) throw new Error(`${what}: nothing was measured`);
  const { value, low, high } = found;
  const isRight = Math.abs(value - truthMs) <= Math.max(RIGHT_MS, truthMs * RIGHT_SHARE);
  const isCovered = (low ?? 0) <= truthMs && (high ?? 0) >= truthMs;
  const before = counts.get(what) ?? { of: 0, right: 0, covered: 0 };
  counts.set(what, {
    of: before.of + 1,
    right: before.right + Number(isRight),
    covered: before.covered + Number(isCovered),
  });
  const mark = isRight && isCovered ? "" : isRight ? "  not covered" : "  WRONG";
  console.log(`  ${delayUs.toFixed(0)} µs, ${what}: ${value} (${low} … ${high})${mark}`);
}
