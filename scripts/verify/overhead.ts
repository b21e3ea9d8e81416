/**
 * Measures what gateways add to the latency of their upstream, and how they behave towards it: the reference gateway, LiteLLM and
 * Portkey in front of `gauntlet upstream`, with `gauntlet overhead` and the suite `upstream`.
 *
 *     npm run build && npm run verify overhead                     all of them
 *     npm run verify overhead -- reference portkey                 these
 *     npm run verify overhead -- --folder DIR                      keeps the installed packages and the runs
 *     npm run verify overhead -- --only overhead|suite             one of the two
 *     npm run verify overhead -- --brief                           only the levels that the matrix shows: about 4 minutes
 *     npm run verify overhead -- --write                           updates docs/internal/overhead-measured.md
 */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { cpus, tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { stringify } from "yaml";
import yargs from "yargs";
import type { RunRecord } from "../../src/record/index.ts";
import { type Finished, MAIN, startGauntlet } from "../../test/support/gauntlet.ts";
import { IN_FRONT, type InFront, type Upstream } from "./overhead/in-front.ts";
import { measuredPage } from "./overhead/measured-page.ts";

const PAGE = fileURLToPath(new URL("../../docs/internal/overhead-measured.md", import.meta.url));

const args = await yargs(process.argv.slice(2))
  .option("folder", { type: "string", describe: "Keeps what is installed, and the runs" })
  .option("only", { choices: ["overhead", "suite"] as const, describe: "One of the two" })
  .option("brief", {
    type: "boolean",
    default: false,
    describe: "Few levels, for `npm run verify matrix -- --overhead`",
  })
  .option("write", { type: "boolean", default: false, describe: "Renews docs/internal/overhead-measured.md" })
  .strictOptions()
  .parseAsync();

const names = args._.map(String);
const unknown = names.filter((name) => !IN_FRONT.some((gateway) => gateway.name === name));
if (unknown.length > 0) throw new Error(`Unknown gateway: ${unknown.join(", ")}.`);
if (!existsSync(MAIN)) throw new Error("dist is missing: run npm run build.");
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(130));
process.setMaxListeners(50);

const folder = args.folder ?? mkdtempSync(join(tmpdir(), "gauntlet-verify-overhead-"));
const logs = join(folder, "logs");
mkdirSync(logs, { recursive: true });

const chosen = IN_FRONT.filter(({ name }) => names.length === 0 || names.includes(name)).filter((gateway) => {
  const missing = gateway.missing();
  if (missing !== undefined) console.log(`${gateway.name}: omitted: ${missing}`);
  return missing === undefined;
});
for (const gateway of chosen) gateway.install(folder);

const started: AsyncDisposable[] = [];
const upstream = await startUpstream();
const targets = new Map<InFront, string>();
for (const gateway of chosen) {
  const one = await gateway.start({ folder, logs, upstream });
  started.push(one);
  const { controlUrl } = upstream;
  const declared = { controlUrl, token: "env:UPSTREAM_TOKEN", attempts: gateway.attempts, failover: upstream.names };
  const file = join(folder, `${gateway.name}.yaml`);
  const { name, version } = gateway.claim;
  const target = { name, ...(version && { gateway: { version } }), ...one.target, upstream: declared };
  writeFileSync(file, stringify(target));
  targets.set(gateway, file);
  console.log(`${gateway.name}: responds at ${String(one.target["baseUrl"])}`);
}

const suites = new Map<InFront, RunRecord>();
if (args.only !== "overhead") for (const [gateway, file] of targets) suites.set(gateway, await judge(gateway, file));
const overhead = args.only === "suite" ? undefined : await measure();

if (args.write && !args.brief && overhead !== undefined && suites.size === chosen.length) {
  const machine = `${cpus()[0]?.model.trim() ?? "unknown"}, ${cpus().length} cores, Node ${process.versions.node}`;
  writeFileSync(PAGE, measuredPage({ overhead, suites, machine, measuredOn: new Date().toISOString().slice(0, 10) }));
}
for (const one of started.reverse()) await one[Symbol.asyncDispose]();
if (args.folder === undefined) rmSync(folder, { recursive: true, force: true });
const problems = [...suites.values()].filter(({ verdict }) => verdict.result === "inconclusive").length;
console.log(
  `verify overhead: ${chosen.length} gateways${problems === 0 ? "" : `, ${problems} without a verdict of the suite`}`,
);
process.exit(chosen.length === 0 ? 4 : 0);

/** Two providers in a separate process. */
async function startUpstream(): Promise<Upstream> {
  const scenario = join(folder, "upstream.yaml");
  writeFileSync(scenario, "providers:\n  primary: {}\n  secondary: {}\n");
  const running = startGauntlet(["upstream", "--scenario", scenario], {}, folder);
  started.push(running);
  const ready = JSON.parse(await running.printed("\n")) as {
    readonly providers: Readonly<Record<string, string>>;
    readonly controlUrl: string;
    readonly controlToken: string;
  };
  process.env["UPSTREAM_TOKEN"] = ready.controlToken;
  return {
    names: Object.keys(ready.providers),
    addresses: Object.values(ready.providers),
    controlUrl: ready.controlUrl,
  };
}

async function judge({ name }: InFront, file: string): Promise<RunRecord> {
  const out = join(folder, "runs", `suite-${name}`);
  rmSync(out, { recursive: true, force: true });
  const { code, stderr } = await run(["conform", "upstream", "--target", file, "--out", out]);
  if (code !== 0 && code !== 1 && code !== 4) throw new Error(`${name}: exit code ${code}\n${stderr}`);
  const record = JSON.parse(readFileSync(join(out, "run.json"), "utf8")) as RunRecord;
  const counts = Object.entries(record.counts).filter(([, count]) => Number(count) > 0);
  console.log(`${name}: suite upstream: ${counts.map(([status, count]) => `${count} ${status}`).join(", ")}`);
  for (const { id, status, message } of record.checks)
    if (!["pass", "observed", "not-applicable"].includes(status))
      console.log(`  ${status} ${id}: ${message.slice(0, 200)}`);
  return record;
}

async function measure(): Promise<RunRecord> {
  const out = join(folder, "runs", "overhead");
  rmSync(out, { recursive: true, force: true });
  const files = [...targets.values()];
  const { code, stdout, stderr } = await run([
    ...["overhead", "--upstream", upstream.addresses[0] ?? "", "--dialect", "chat", "--out", out],
    ...(args.brief ? ["--concurrency", "1,32", "--prompt-bytes", "1000", "--no-frontier"] : []),
    ...["--target", ...files],
  ]);
  console.log(stdout);
  if (code !== 0 && code !== 1 && code !== 4) throw new Error(`overhead: exit code ${code}\n${stderr}`);
  return JSON.parse(readFileSync(join(out, "run.json"), "utf8")) as RunRecord;
}

async function run(command: readonly string[]): Promise<Finished> {
  await using running = startGauntlet(command, {}, folder);
  return await running.finished;
}
