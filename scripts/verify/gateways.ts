/**
 * Gauntlet against third-party gateways, with the reference gateway as their provider: installs them, starts them on loopback,
 * runs their example (`examples/NAME`) and compares the results with `examples/NAME/expected.yaml`.
 *
 *     npm run build && npm run verify gateways                 all that can be installed on this machine
 *     npm run verify gateways -- portkey litellm               these; it is a failure if one cannot be installed
 *     npm run verify gateways -- --folder DIR                  keeps the installed packages and the runs
 *     npm run verify gateways -- --write                       updates the reports under docs/real-gateways
 *     npm run verify gateways -- --only-page --folder DIR      no run: the page about disturbances, from the runs kept there
 *     npm run verify gateways -- --at-once 3                   this many in parallel
 *     npm run verify gateways -- --propose                     with the target files that gauntlet doctor --propose derives
 *
 * If the process of a gateway exits in the middle of a run, for example because it ran out of memory, the run says nothing about
 * Gauntlet. Such a gateway is tried once more, and skipped if it exits again; the last line counts both.
 */
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { freemem, tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseDocument } from "yaml";
import yargs from "yargs";
import type { CheckResult, RunRecord } from "../../src/record/index.ts";
import { MAIN } from "../../test/support/gauntlet.ts";
import { recordProblems } from "../../test/support/record-schema.ts";
import { type DisturbedGateway, disturbancePage } from "./gateways/disturbance-page.ts";
import { type Compared, compareWith, readExpected } from "./gateways/expected.ts";
import type { Gateway, GatewayRun } from "./gateways/gateway.ts";
import { GATEWAYS } from "./gateways/gateways.ts";
import { run } from "./gateways/program.ts";
import { type StartedExample, startExample } from "./gateways/start-example.ts";

/** Those that are tried without names on the command line. */
const DEFAULT_GATEWAYS = GATEWAYS.filter(({ onlyByName }) => onlyByName !== true);
const ALL_CHECKS: readonly GatewayRun[] = [
  { name: "conform", command: ["conform", "--target", "gauntlet.yaml"], mustDecide: true },
];

/** Exit code of a run that could not judge everything, and of a verification without a result. */
const NO_VERDICT = 4;

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const REPORTS = join(ROOT, "docs/real-gateways");

const args = await yargs(process.argv.slice(2))
  .option("folder", { type: "string", describe: "Keeps what is installed, and the runs" })
  .option("write", { type: "boolean", default: false, describe: "Renews docs/real-gateways" })
  .option("propose", {
    type: "boolean",
    default: false,
    describe: "Judge by what doctor proposes in place of the contract of the example",
  })
  .option("only-page", {
    type: "boolean",
    default: false,
    describe: "No run: the page about disturbances, from kept runs",
  })
  .option("at-once", { type: "number", default: 1, describe: "How many gateways are tried side by side" })
  .strictOptions()
  .parseAsync();

const names = args._.map(String);
const unknown = names.filter((name) => !GATEWAYS.some((gateway) => gateway.name === name));
if (unknown.length > 0) throw new Error(`Unknown gateway: ${unknown.join(", ")}.`);
if (!existsSync(MAIN)) throw new Error("dist is missing: run npm run build.");

// Parallel runs add an exit listener per started program: more than Node's default limit of 10.
process.setMaxListeners(50);
// Everything that was started ends with this process, however that ends (`startProgram`).
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(130));

const startedMs = Date.now();
const folder = args.folder ?? mkdtempSync(join(tmpdir(), "gauntlet-verify-gateways-"));
mkdirSync(join(folder, "runs"), { recursive: true });

interface Tried extends Compared {
  readonly gateway: Gateway;
  /** Results by the name of the run. */
  readonly checks: ReadonlyMap<string, readonly CheckResult[]>;
}

const tried: Tried[] = [];
const problems: string[] = [];
const omitted: string[] = [];
/** Gateways whose process exited in the middle of a run, once for each time. */
const endedThemselves: string[] = [];

const chosen = args.onlyPage
  ? []
  : names.length === 0
    ? DEFAULT_GATEWAYS
    : GATEWAYS.filter(({ name }) => names.includes(name));
const installed = chosen.filter(wasInstalled);
await Promise.all(
  Array.from({ length: args.atOnce }, async () => {
    for (let gateway = installed.shift(); gateway !== undefined; gateway = installed.shift()) await verify(gateway);
  }),
);

const isDisturbed = args.onlyPage || tried.some(({ gateway }) => gateway.runs !== undefined);
const page = isDisturbed ? disturbancePage(disturbedGateways()) : undefined;
if (page !== undefined) console.log(page);
if (args.write) writeReports(tried.map(({ gateway }) => gateway.name));
if (args.write && page !== undefined) writeFileSync(join(REPORTS, "disturbances.md"), page);
if (args.folder === undefined) rmSync(folder, { recursive: true, force: true });
const sum = (field: "failures" | "warnings") => tried.reduce((all, one) => all + one[field], 0);
const leftOpen = tried.reduce((all, one) => all + one.leftOpen.length, 0);
const parts = [
  `${tried.length} ${tried.length === 1 ? "gateway" : "gateways"}`,
  ...(omitted.length === 0 ? [] : [`omitted: ${omitted.join(", ")}`]),
  ...(endedThemselves.length === 0 ? [] : [`ended in the middle of a run: ${endedThemselves.join(", ")}`]),
  `${sum("failures")} failures and ${sum("warnings")} warnings${problems.length === 0 ? " as expected" : ""}`,
  ...(leftOpen === 0 ? [] : [`${leftOpen} inconclusive, possibly caused by this machine`]),
  ...(problems.length === 0 ? [] : [`${problems.length} not as expected`]),
];
console.log(`verify gateways: ${parts.join(", ")}, in ${minutes(startedMs)} min`);
process.exitCode = problems.length > 0 ? 1 : tried.length === 0 && !args.onlyPage ? NO_VERDICT : 0;

/** Those of this call, and those whose runs an earlier call kept in the same folder. */
function disturbedGateways(): DisturbedGateway[] {
  return GATEWAYS.flatMap(({ name, title, runs }) => {
    if (runs === undefined) return [];
    const now = tried.find(({ gateway }) => gateway.name === name);
    if (now !== undefined) return [{ name, title, checks: now.checks }];
    const kept = runs.map((one) => [one.name, join(folder, "runs", name, one.name, "run.json")] as const);
    if (chosen.some((gateway) => gateway.name === name) || !kept.every(([, path]) => existsSync(path))) return [];
    return [{ name, title, checks: new Map(kept.map(([run, path]) => [run, checksIn(path)])) }];
  });
}

function checksIn(path: string): readonly CheckResult[] {
  return (JSON.parse(readFileSync(path, "utf8")) as RunRecord).checks;
}

function minutes(sinceMs: number): string {
  return ((Date.now() - sinceMs) / 60_000).toFixed(1);
}

/** Installs a gateway. @returns `false` if it cannot be installed; a failed installation is a problem. */
function wasInstalled(gateway: Gateway): boolean {
  const { name } = gateway;
  const missing = gateway.missing();
  if (missing !== undefined) {
    console.log(`${name}: omitted: ${missing}`);
    omitted.push(name);
    if (names.includes(name)) problems.push(`${name}: ${missing}`);
    return false;
  }
  const beganMs = Date.now();
  try {
    gateway.install(folder);
  } catch (error) {
    problem(name, error);
    return false;
  }
  console.log(`${name}: installed after ${minutes(beganMs)} min`);
  return true;
}

async function verify(gateway: Gateway): Promise<void> {
  const { name } = gateway;
  try {
    const compared = (await tryGateway(gateway)) ?? (await tryGateway(gateway));
    if (compared === undefined) {
      omitted.push(name);
      return;
    }
    tried.push({ gateway, ...compared });
    for (const one of compared.problems) problem(name, one);
    for (const one of compared.leftOpen) console.log(`${name}: inconclusive, possibly caused by this machine: ${one}`);
  } catch (error) {
    problem(name, error);
  }
}

function problem(name: string, what: unknown): void {
  console.log(`FAIL ${name}:`, what);
  problems.push(`${name}: ${what}`);
}

/** Runs one gateway from its start to the results; `undefined` if its process exited in the middle. */
async function tryGateway(gateway: Gateway): Promise<Omit<Tried, "gateway"> | undefined> {
  const { name } = gateway;
  const beganMs = Date.now();
  await using started = await startExample(gateway, { folder, isParallel: args.atOnce > 1 });
  const { work, example, logs, running } = started;
  console.log(`${name}: responds after ${minutes(beganMs)} min`);

  if (args.propose) await proposeTarget(started);
  const checks = new Map<string, readonly CheckResult[]>();
  for (const { name: runName, command, mustDecide } of gateway.runs ?? ALL_CHECKS) {
    const out = join(work, runName);
    await running.untilAllAccept?.();
    const done = await started.gauntlet([...command, "--out", out]);
    writeFileSync(join(logs, `${runName}.log`), done.stdout + done.stderr);
    const ended = running.ended();
    if (ended !== undefined) {
      const freeMib = Math.round(freemem() / 1_024 ** 2);
      console.log(
        `${name}: its process ended in the middle of the run, with ${freeMib} MiB of memory free now: ${ended}`,
      );
      endedThemselves.push(name);
      return undefined;
    }
    // 0 and 1 are verdicts, 4 is a run that could not judge everything; all others are errors.
    if (done.code !== 0 && done.code !== 1 && (done.code !== NO_VERDICT || mustDecide))
      throw new Error(`${runName} ended with ${done.code}:\n${done.stderr.slice(-2_000)}`);
    if (!existsSync(join(out, "report.html"))) throw new Error(`${runName} did not write report.html`);
    const damage = recordProblems(out);
    if (damage.length > 0) throw new Error(`the record does not match its schema: ${damage.join("\n")}`);
    const record = JSON.parse(readFileSync(join(out, "run.json"), "utf8")) as RunRecord;
    console.log(`${name}: ${runName}: ${counts(record.checks)}, exit code ${done.code}, after ${minutes(beganMs)} min`);
    checks.set(runName, record.checks);
  }
  const expected = readExpected(join(example, gateway.expected ?? "expected.yaml"));
  return { checks, ...compareWith(expected, [...checks.values()].flat()) };
}

/** Removes the contract from the target file of an example, and has one proposed instead. */
async function proposeTarget({ example, gauntlet }: StartedExample): Promise<void> {
  const path = join(example, "gauntlet.yaml");
  const document = parseDocument(readFileSync(path, "utf8"));
  document.delete("contract");
  const plain = document.toString({ lineWidth: 0 });
  writeFileSync(join(example, "plain.yaml"), plain);
  rmSync(path);
  const options = ["--target", "plain.yaml", "--propose", "--out", "gauntlet.yaml"];
  const { code, stderr } = await gauntlet(["doctor", ...options]);
  if (code !== 0) throw new Error(`doctor --propose ended with ${code}: ${stderr}`);
  console.log(readFileSync(path, "utf8").slice(plain.length));
}

function counts(checks: readonly CheckResult[]): string {
  const statuses = new Map<string, number>();
  for (const { status } of checks) statuses.set(status, (statuses.get(status) ?? 0) + 1);
  return [...statuses].map(([status, count]) => `${count} ${status}`).join(", ");
}

/** Copies the reports of these runs; the pages about all gateways need all of them. */
function writeReports(all: readonly string[]): void {
  const runOf = (name: string) => join(folder, "runs", name, "conform");
  const written = all.filter((name) => DEFAULT_GATEWAYS.some((usual) => usual.name === name));
  for (const name of written) {
    cpSync(join(runOf(name), "report.html"), join(REPORTS, `${name}.html`));
    cpSync(join(runOf(name), "summary.md"), join(REPORTS, `${name}.md`));
  }
  if (written.length < DEFAULT_GATEWAYS.length) {
    console.log("requirements.md and causes.md were not updated: that takes a run of all gateways");
    return;
  }
  const runs = DEFAULT_GATEWAYS.map(({ name, title }) => `${title}=${runOf(name)}`);
  for (const page of ["requirements", "causes"]) {
    const script = join(ROOT, `scripts/docs/${page}-of-runs.ts`);
    const text = run([process.execPath, "--import", "tsx", script, ...runs], { cwd: ROOT });
    writeFileSync(join(REPORTS, `${page}.md`), text);
  }
}
