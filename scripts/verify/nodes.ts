/**
 * The tests on every Node that the package supports, through the npm package `node`:
 *
 *     npm run build && npm run verify nodes [-- --nodes 22 24] [--share 4] [--folder DIR]
 *
 * A full run takes five minutes per Node version. With `--share K` each version runs one K-th of the test files, each a different
 * part, and tomorrow the next; the packed package is installed and used on all of them.
 */
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import type { JsonTestResults } from "vitest/node";
import yargs from "yargs";
import { ROOT } from "../docs/generated-files.ts";

/** The oldest version that works, and the newest of every maintained line since then. */
const NODES = ["20.19.0", "22", "24", "26"];
/** Run on each version, whatever its part is: the packed package, and with it the start of the program. */
const EVERYWHERE = [["--config", "scripts/verify/vitest/vitest.long.config.ts", "test/package/tarball.test.ts"]];
const DAY_MS = 86_400_000;

const args = await yargs(process.argv.slice(2))
  .option("nodes", { type: "string", array: true, default: NODES, describe: "Versions, as npm knows them" })
  .option("share", { type: "number", default: 1, describe: "Each Node runs one K-th of the test files" })
  .option("folder", { type: "string", describe: "Keeps the Nodes; default: a temporary one" })
  .strict()
  .parseAsync();

const folder = args.folder ?? mkdtempSync(join(tmpdir(), "gauntlet-verify-nodes-"));
const today = Math.floor(Date.now() / DAY_MS);
// The settings that npm passes to our scripts do not apply to the npm that the tests start.
const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^npm_/i.test(name)));
const failed: string[] = [];

/** @returns the path of the program. */
function install(version: string): string {
  const prefix = join(folder, version);
  mkdirSync(prefix, { recursive: true });
  const options = ["--no-save", "--no-audit", "--no-fund", "--loglevel=error", "--prefix", prefix];
  const { status, stderr } = spawnSync("npm", ["install", ...options, `node@${version}`], { env, encoding: "utf8" });
  if (status !== 0) throw new Error(`npm install node@${version} ended with ${status}\n${stderr}`);
  return join(prefix, "node_modules", "node", "bin", "node");
}

/** Runs vitest with that Node, which is also the one that `npm`, `npx` and everything else in the tests finds. */
async function runTests(node: string, chosen: readonly string[]): Promise<JsonTestResults> {
  const results = join(folder, `results-${process.hrtime.bigint()}.json`);
  const vitest = join(ROOT, "node_modules", "vitest", "vitest.mjs");
  const reporters = ["--reporter=json", `--outputFile.json=${results}`];
  const child = spawn(node, [vitest, "run", ...reporters, ...chosen], {
    cwd: ROOT,
    env: { ...env, PATH: `${dirname(node)}${delimiter}${env["PATH"]}` },
    stdio: ["ignore", "ignore", "inherit"],
  });
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => child.kill(signal));
  await once(child, "exit");
  return JSON.parse(readFileSync(results, "utf8"));
}

/** Failures, a line each; a file that cannot be loaded counts as one, and so does a run without tests. */
function failuresOf({ testResults, numTotalTests }: JsonTestResults): string[] {
  if (numTotalTests === 0) return ["no test ran"];
  return testResults.flatMap(({ name, status, message, assertionResults }) => {
    const bad = assertionResults.filter((one) => one.status === "failed");
    if (status === "failed" && bad.length === 0) return [`${name}: ${message}`];
    return bad.map((one) => `${one.fullName}: ${one.failureMessages?.[0] ?? ""}`);
  });
}

for (const [index, requested] of args.nodes.entries()) {
  const startedMs = performance.now();
  const node = install(requested);
  const version = spawnSync(node, ["--version"], { encoding: "utf8" }).stdout.trim();
  const part = ((today + index) % args.share) + 1;
  const runs = [await runTests(node, args.share === 1 ? [] : [`--shard=${part}/${args.share}`])];
  for (const chosen of EVERYWHERE) runs.push(await runTests(node, chosen));
  const failures = runs.flatMap(failuresOf);
  const passed = runs.reduce((sum, { numPassedTests }) => sum + numPassedTests, 0);
  const which = args.share === 1 ? "all tests" : `part ${part} of ${args.share} and the package`;
  const tookS = Math.round((performance.now() - startedMs) / 1_000);
  console.log(`node ${version}: ${passed} passed, ${failures.length} failed in ${tookS} s (${which})`);
  for (const line of failures) console.log(`  ${line.slice(0, 400)}`);
  if (failures.length > 0 || passed === 0) failed.push(version);
}
if (args.folder === undefined) rmSync(folder, { recursive: true, force: true });
console.log(
  `${args.nodes.length} Nodes, ${failed.length === 0 ? "all tests passed" : `failed on ${failed.join(", ")}`}`,
);
process.exitCode = failed.length === 0 ? 0 : 1;
