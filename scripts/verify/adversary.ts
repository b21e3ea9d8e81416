/**
 * Every hostile behaviour against every command that contacts a gateway, keys that must not appear anywhere, runs that are killed
 * at random moments, and many random inputs for every reader:
 *
 *     npm run verify adversary [-- --only REGEX] [--command NAME] [--workers 3] [--kills 200] [--inputs 1000] [--all] [--whole] [--no-canaries] [--write]
 *
 * Prints how many cases there were and how many survived; with `--write` updates docs/internal/measured/reliability.json.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { createInterface } from "node:readline";
import yargs from "yargs";
import { CANARY_CASES, type CanaryResult, runCanaries } from "../../test/adversary/canaries.ts";
import { BOUNDS, type CaseResult, chosenCases, runCase, wholeCases } from "../../test/adversary/cases.ts";
import { type Killed, killMany } from "../../test/adversary/kills.ts";
import { READERS_OF_FILES } from "../../test/fuzz/readers-of-files.ts";
import { READERS_OF_RESPONSES } from "../../test/fuzz/readers-of-responses.ts";
import { RELIABILITY_FILE, type Reliability, reliabilityLines } from "../docs/reliability.ts";

const args = await yargs(process.argv.slice(2))
  .option("only", { type: "string", default: "", describe: "Behaviours by a regular expression" })
  .option("command", { type: "string", default: "", describe: "Commands by the beginning of their name" })
  .option("workers", { type: "number", default: 3 })
  .option("kills", { type: "number", default: 200 })
  .option("inputs", { type: "number", default: 1_000, describe: "Random inputs for each reader" })
  .option("all", { type: "boolean", default: false, describe: "Every behaviour against every command" })
  .option("whole", {
    type: "boolean",
    default: false,
    describe: "Every behaviour against conform, run --quick and load; each once more with SIGTERM at a random moment",
  })
  .option("canaries", { type: "boolean", default: true })
  .option("write", { type: "boolean", default: false })
  .option("part", { type: "number", describe: "Works as one of the workers" })
  .strict()
  .parseAsync();

/** A worker's report of a case, without its output. */
type CaseSummary = Omit<CaseResult, "ran"> & {
  readonly seconds: number;
  readonly peakMib: number;
  readonly code: number | null;
  /** From SIGTERM to the exit, ms; absent if no SIGTERM was sent, or it was sent too late. */
  readonly stopMs?: number | undefined;
};

const cases = (args.whole ? wholeCases() : chosenCases(args.all || args.command !== "")).filter(
  ([{ name }, command]) => new RegExp(args.only).test(name) && command.name.startsWith(args.command),
);

if (cases.length === 0) throw new Error("no behaviour and command match: nothing would be verified");
if (args.part !== undefined) await work(args.part);
else await verify();

/** A separate process: an adversary that floods one run must not be late for another. */
async function work(part: number): Promise<void> {
  for (const [behaviour, command] of cases.filter((_case, index) => index % args.workers === part)) {
    const { ran } = report(await runCase(behaviour, command));
    // Once more, with SIGTERM at a random moment of the run.
    if (args.whole) report(await runCase(behaviour, command, Math.random() * ran.seconds * 1_000));
  }
}

function report(result: CaseResult): CaseResult {
  const { ran, ...rest } = result;
  const { seconds, peakMib = 0, code, stopMs } = ran;
  const summary: CaseSummary = { ...rest, seconds, peakMib, code, stopMs };
  process.stdout.write(`${JSON.stringify(summary)}\n`);
  return result;
}

async function hostile(): Promise<CaseSummary[]> {
  const summaries: CaseSummary[] = [];
  await Promise.all(
    Array.from({ length: Math.min(args.workers, cases.length) }, async (_, part) => {
      const child = spawn(
        process.execPath,
        ["--import", "tsx", import.meta.filename, ...process.argv.slice(2), "--part", String(part)],
        { stdio: ["ignore", "pipe", "inherit"] },
      );
      const exited = once(child, "exit");
      for await (const line of createInterface({ input: child.stdout })) {
        const one: CaseSummary = JSON.parse(line);
        summaries.push(one);
        const verdict = one.complaints.length === 0 ? "ok  " : "FAIL";
        console.log(
          `${verdict} ${one.command} ${one.behaviour}: ${one.seconds.toFixed(1)} s, ${Math.round(one.peakMib)} MiB, exit ${one.code}${one.stopMs === undefined ? "" : `, ${Math.round(one.stopMs)} ms after SIGTERM`}`,
        );
        for (const complaint of one.complaints) console.log(`       ${complaint.replaceAll("\n", " | ")}`);
      }
      await exited;
    }),
  );
  return summaries;
}

async function canaries(): Promise<CanaryResult[]> {
  return await runCanaries(CANARY_CASES, ({ name, complaints }) => {
    for (const complaint of complaints) console.log(`FAIL canary ${name}: ${complaint.replaceAll("\n", " | ")}`);
  });
}

async function fuzz(): Promise<string[]> {
  const broken: string[] = [];
  for (const property of [...READERS_OF_RESPONSES, ...READERS_OF_FILES]) {
    try {
      await property.check(Math.ceil(args.inputs / property.cost));
    } catch (error) {
      broken.push(`${property.name}: ${(error as Error).message}`);
    }
  }
  return broken;
}

async function verify(): Promise<void> {
  const startedMs = performance.now();
  const summaries = await hostile();
  const searched = args.canaries ? await canaries() : [];
  const killed: Killed[] = args.kills === 0 ? [] : await killMany(args.kills, args.workers);
  for (const { phase, complaints } of killed)
    for (const complaint of complaints) console.log(`FAIL killed (${phase}): ${complaint}`);
  const broken = args.inputs === 0 ? [] : await fuzz();
  for (const complaint of broken) console.log(`FAIL fuzz ${complaint}`);
  const reliability = reliabilityOf({ summaries, searched, killed, broken });
  if (args.write) writeFileSync(RELIABILITY_FILE, `${JSON.stringify(reliability, null, 2)}\n`);
  for (const line of reliabilityLines(reliability)) console.log(line);
  const seconds = Math.round((performance.now() - startedMs) / 1_000);
  // All in one line, because the end of `.ci/run` shows it.
  const parts = (["adversary", "canaries", "kills"] as const).map(
    (name) => `${name} ${reliability[name].survived} of ${reliability[name].cases}`,
  );
  const { inputs, broken: brokenReaders } = reliability.fuzz;
  console.log(`survived: ${parts.join(", ")}, ${inputs} inputs with ${brokenReaders} readers broken, in ${seconds} s`);
  const sound =
    summaries.length === reliability.adversary.survived &&
    searched.length === reliability.canaries.survived &&
    killed.length === reliability.kills.survived &&
    broken.length === 0;
  process.exit(sound && summaries.length === cases.length * (args.whole ? 2 : 1) ? 0 : 1);
}

interface Outcomes {
  readonly summaries: readonly CaseSummary[];
  readonly searched: readonly CanaryResult[];
  readonly killed: readonly Killed[];
  readonly broken: readonly string[];
}

function reliabilityOf({ summaries, searched, killed, broken }: Outcomes): Reliability {
  const phases = [...new Set(killed.map(({ phase }) => phase))];
  return {
    adversary: {
      behaviours: new Set(summaries.map(({ behaviour }) => behaviour)).size,
      commands: new Set(summaries.map(({ command }) => command)).size,
      cases: summaries.length,
      survived: summaries.filter(({ complaints }) => complaints.length === 0).length,
      longestS: Math.round(Math.max(0, ...summaries.map(({ seconds }) => seconds)) * 10) / 10,
      boundS: BOUNDS.seconds,
      largestMib: Math.round(Math.max(0, ...summaries.map(({ peakMib }) => peakMib))),
      boundMib: BOUNDS.peakMib,
    },
    canaries: {
      cases: searched.length,
      survived: searched.filter(({ complaints }) => complaints.length === 0).length,
      commands: new Set(searched.map(({ command }) => command)).size,
      files: searched.reduce((sum, { files }) => sum + files, 0),
      searchedKib: Math.round(searched.reduce((sum, { searchedBytes }) => sum + searchedBytes, 0) / 1_024),
    },
    kills: {
      cases: killed.length,
      survived: killed.filter(({ complaints }) => complaints.length === 0).length,
      phases: Object.fromEntries(phases.map((phase) => [phase, killed.filter((one) => one.phase === phase).length])),
    },
    fuzz: {
      readers: READERS_OF_RESPONSES.length + READERS_OF_FILES.length,
      inputs: [...READERS_OF_RESPONSES, ...READERS_OF_FILES].reduce(
        (sum, { cost }) => sum + Math.ceil(args.inputs / cost),
        0,
      ),
      broken: broken.length,
    },
  };
}
