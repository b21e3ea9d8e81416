/**
 * Measures the quick run: how long it takes, what it sends, how many mutations of the reference gateway it finds, and that it
 * blames no valid variant.
 *
 *     npm run verify quick                              everything; updates docs/internal/measured/quick.json with --write
 *     npm run verify quick -- --every 10                a tenth of both, a different one each day
 *     npm run verify quick -- --choose                  chooses its checks again: judges every mutation with all candidates
 *     npm run verify quick -- --choose --only '^auth'   adds checks to the chosen ones, for these mutations
 */
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import yargs from "yargs";
import { instancesOf } from "../../src/checks/index.ts";
import { isQuick } from "../../src/run/suites/own-suites.ts";
import { CHECKS } from "../../suites/index.ts";
import { chooseQuick } from "./judge/choose-quick.ts";
import { killOf } from "./judge/evaluate.ts";
import { judgeGateway } from "./judge/judge-gateway.ts";
import { judgeInWorkers } from "./judge/judge-in-workers.ts";
import { everything } from "./judge/sample.ts";

const args = await yargs(process.argv.slice(2))
  .option("every", { type: "number", default: 1, describe: "Judge one in this many, others each day" })
  .option("choose", { type: "boolean", default: false, describe: "Choose the checks again, which takes 40 minutes" })
  .option("only", {
    type: "string",
    implies: "choose",
    describe: "Add checks to those that are chosen, for such mutations",
  })
  .option("out", { type: "string", describe: "Folder for the judgements; what it holds is not judged again" })
  .option("write", { type: "boolean", default: false, describe: "Renew docs/internal/measured/quick.json" })
  .option("workers", { type: "number", default: 2 })
  .option("concurrency", { type: "number", default: 3, describe: "Gateways at once in each worker" })
  .strict()
  .parseAsync();

const FILE = join(import.meta.dirname, "../../docs/internal/measured/quick.json");
/** Below this a quick run is not good enough: the measured share, less the sampling error of a sample of thirty. */
const MIN_SHARE = 0.7;
/** Exit code of an inconclusive verification: the machine was too busy. */
const NO_VERDICT = 4;

const folder = args.out ?? mkdtempSync(join(tmpdir(), "gauntlet-quick-"));
if (args.choose) {
  const only = args.only === undefined ? undefined : new RegExp(args.only);
  await chooseQuick({ folder, workers: args.workers, only });
  process.exit(0);
}

const instances = CHECKS.flatMap(instancesOf).filter(isQuick);
const startedMs = performance.now();
const sound = await judgeGateway({ instances, isQuick: true });
const seconds = (performance.now() - startedMs) / 1_000;

const day = Math.floor(Date.now() / 86_400_000);
const part = (names: readonly string[]) => names.filter((_, index) => (index + day) % args.every === 0);
const all = everything();
const how = { workers: args.workers, folder, options: ["--quick", "--concurrency", String(args.concurrency)] };
const mutations = await judgeInWorkers("mutations", part(all.mutations), how);
const variants = await judgeInWorkers("variants", part(all.variants), how);

const missed = mutations.filter((judgement) => killOf(judgement).foundBy === null).map(({ name }) => name);
const blamed = variants.filter(({ bad, error }) => error !== undefined || bad.some(({ status }) => status === "fail"));
const found = mutations.length - missed.length;
const share = found / mutations.length;
const soundly = sound.results.every(({ status }) => ["pass", "observed", "not-applicable"].includes(status));
for (const name of missed) console.log(`  missed: ${name}`);
for (const { name, bad, error } of blamed)
  console.log(`  blamed: ${name}: ${error ?? bad.map(({ id }) => id).join(", ")}`);
if (args.write) {
  const measured = {
    checks: instances.length,
    seconds: Math.round(seconds * 10) / 10,
    requests: sound.requests,
    mutations: mutations.length,
    found,
    variants: variants.length,
    blamed: blamed.length,
  };
  writeFileSync(FILE, `${JSON.stringify(measured, null, 2)}\n`);
}
console.log(
  `verify quick: ${instances.length} checks, ${seconds.toFixed(1)} s and ${sound.requests} requests on the embedded gateway, which ${soundly ? "passes" : "does not pass"}; found ${found} of ${mutations.length} mutations (${(share * 100).toFixed(1)} %), blamed ${blamed.length} of ${variants.length} variants`,
);
const isUnjudged = mutations.length < part(all.mutations).length || variants.length < part(all.variants).length;
if (isUnjudged) console.log("  a worker ended before it had judged everything");
// NaN: no mutations.
const isWrong =
  isUnjudged ||
  Number.isNaN(share) ||
  share < MIN_SHARE ||
  blamed.length > 0 ||
  sound.results.some(({ status }) => ["fail", "flaky", "warn"].includes(status));
process.exit(isWrong ? 1 : soundly ? 0 : NO_VERDICT);
