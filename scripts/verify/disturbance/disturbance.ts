/**
 * `npm run verify disturbance`: the shipped workloads with events, on the reference gateway as two processes that share their state
 * behind a balancer. Each must pass, and must fail with the mutation that it is there for, in the finding that the mutation names.
 *
 *     npm run build && npm run verify disturbance             about eight minutes on two cores
 *     npm run verify disturbance -- --at-once 1               one run at a time, 13 minutes
 *     npm run verify disturbance -- --only kill --folder DIR  runs whose names match; keeps the records
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import yargs from "yargs";
import { describeFinding } from "../../../reports/text/index.ts";
import { type Finding, readRecord } from "../../../src/record/index.ts";
import { MUTATIONS } from "../../../src/reference-gateway/index.ts";
import { startGauntlet } from "../../../test/support/gauntlet.ts";
import { type DisturbedGateway, startDisturbed } from "./start-disturbed.ts";

/** The shipped workloads with events, with other sound gateways that must pass them as well: options of the replicas. */
const SCENARIOS = {
  "rolling-restart": [],
  "rolling-restart-capacity": ["--variant replicas.ends-known-late"],
  kill: [],
  "counter-store-outage": [],
  "counter-store-limits": ["--limiter fixed-window", "--limiter token-bucket"],
  "counter-store-cost": [],
  "upstream-outage": [],
  "slow-upstream": [],
} as const;

const args = await yargs(process.argv.slice(2))
  .option("at-once", { type: "number", default: 2, describe: "How many runs side by side" })
  .option("only", { type: "string", default: ".", describe: "Runs whose names match" })
  .option("folder", { type: "string", describe: "Keeps the records" })
  .strict()
  .parseAsync();

const ATTEMPTS = 3;
/** Exit code of a run that decided nothing, and of this verification if a run of it did not. */
const NO_VERDICT = 4;

interface Planned {
  readonly scenario: keyof typeof SCENARIOS;
  /** Options of the replicas; none for the reference gateway as it is. */
  readonly change?: string;
  /** The finding that must be violated; none for a gateway without a defect. */
  readonly finding?: string;
}

interface Row extends Planned {
  /** `open`: this machine was too busy to decide it. */
  readonly result: "ok" | "WRONG" | "open";
  readonly seen: string;
}

const scenarios = Object.keys(SCENARIOS) as (keyof typeof SCENARIOS)[];
const planned = scenarios
  .flatMap((scenario): Planned[] => {
    const own = MUTATIONS.filter(({ shownByEvents }) => shownByEvents?.workload === scenario);
    if (own.length === 0) throw new Error(`no mutation is declared for ${scenario}`);
    return [
      { scenario },
      ...SCENARIOS[scenario].map((change) => ({ scenario, change })),
      ...own.map(({ name, shownByEvents }) => ({
        scenario,
        change: `--mutation ${name}`,
        finding: shownByEvents?.finding ?? "",
      })),
    ];
  })
  .filter((one) => new RegExp(args.only).test(nameOf(one)));

const startedMs = Date.now();
const folder = args.folder ?? mkdtempSync(join(tmpdir(), "gauntlet-verify-disturbance-"));
const rows: Row[] = [];
const waiting = [...planned];
await Promise.all(
  Array.from({ length: args.atOnce }, async () => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) rows.push(await tried(next));
  }),
);

const width = (of: (row: Row) => string) => Math.max(...rows.map((row) => of(row).length));
const orderOf = (row: Row) => planned.findIndex((one) => isSame(one, row));
for (const row of rows.sort((a, b) => orderOf(a) - orderOf(b)))
  console.log(
    `${row.result.padEnd(5)} ${row.scenario.padEnd(width(({ scenario }) => scenario))}  ${gatewayOf(row).padEnd(width(gatewayOf))}  ${expectedOf(row).padEnd(width(expectedOf))}  ${row.seen}`,
  );
const countOf = (result: Row["result"]) => rows.filter((row) => row.result === result).length;
const minutes = ((Date.now() - startedMs) / 60_000).toFixed(1);
console.log(
  `verify disturbance: ${rows.length} runs, ${countOf("WRONG")} unexpected, ${countOf("open")} inconclusive because this machine was too busy, in ${minutes} min`,
);
if (args.folder === undefined) rmSync(folder, { recursive: true, force: true });
process.exitCode = countOf("WRONG") > 0 || rows.length === 0 ? 1 : countOf("open") > 0 ? NO_VERDICT : 0;

function nameOf({ scenario, change }: Planned): string {
  return `${scenario} ${change?.replace("--", "") ?? "sound"}`;
}

function gatewayOf({ change }: Planned): string {
  return change?.replace(/^--(mutation )?/, "") ?? "no defect";
}

function expectedOf({ finding }: Planned): string {
  return finding === undefined ? "passes" : `fails in ${finding}`;
}

function isSame(one: Planned, other: Planned): boolean {
  return one.scenario === other.scenario && one.change === other.change;
}

/** Runs one; a result that is not as it should be is tried again, because other programs may have disturbed it as well. */
async function tried(one: Planned): Promise<Row> {
  for (let attempt = 1; ; attempt++) {
    const row = await run(one);
    if (row.result === "ok" || attempt === ATTEMPTS) return row;
    console.log(`${one.scenario}, ${gatewayOf(one)}: ${row.seen}; once more`);
  }
}

async function run(one: Planned): Promise<Row> {
  const { scenario, change } = one;
  const out = join(folder, nameOf(one).replaceAll(/[ .]/g, "-"));
  rmSync(out, { recursive: true, force: true });
  await using gateway: DisturbedGateway = await startDisturbed(scenario, change ?? "");
  const load = startGauntlet(
    ["load", scenario, "--target", gateway.target, "--out", out],
    gateway.environment,
    gateway.folder,
  );
  const { code, stdout, stderr } = await load.finished;
  mkdirSync(out, { recursive: true });
  writeFileSync(join(out, "output.txt"), stdout + stderr);
  const findings = recordOf(out).flatMap((check) => check.findings ?? []);
  const shown = findings.filter(({ outcome }) => outcome === (code === NO_VERDICT ? "undecided" : "broken"));
  const seen =
    code === 0
      ? `${findings.length} findings met`
      : `exit code ${code}: ${shown.map(describeFinding).join("; ") || stderr.slice(-300)}`;
  return { ...one, result: resultOf(one, code, shown), seen };
}

function resultOf({ finding }: Planned, code: number | null, shown: readonly Finding[]): Row["result"] {
  const isRight = finding === undefined ? code === 0 : code === 1 && shown.some(({ name }) => name === finding);
  if (isRight) return "ok";
  const isBusy = shown.length > 0 && shown.every(({ reason }) => reason?.kind === "machine-busy");
  return code === NO_VERDICT && isBusy ? "open" : "WRONG";
}

function recordOf(out: string) {
  try {
    return readRecord(out).checks.filter(({ id }) => id.endsWith(".events"));
  } catch {
    // The load did not get so far; its exit code and output say why.
    return [];
  }
}
