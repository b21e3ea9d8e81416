/**
 * The proof that verdicts are true: defects of the reference gateway must be seen in the row that they belong to, odd but
 * sound variants of it must not be blamed.
 *
 *     npm run prove                       a sample over all areas, under twenty minutes on two cores
 *     npm run prove -- --all --write      everything; renews docs/kill-matrix.json and the pages made from it
 *     npm run prove -- --minutes 10       as much of the sample as can be judged by then; what is left out is told
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import yargs from "yargs";
import { complaints, foundBy, type Kill, killOf, strays } from "./evaluate.ts";
import { type Judgement, readJudgements } from "./judgement.ts";
import { everything, sample } from "./sample.ts";
import { MATRIX_FILE, type Matrix, writePages } from "./write-pages.ts";

const args = await yargs(process.argv.slice(2))
  .option("all", { type: "boolean", default: false, describe: "Every fault and every variant" })
  .option("write", { type: "boolean", default: false, describe: "Renew the kill matrix and its pages" })
  .option("from", { type: "string", array: true, default: [], describe: "Judgements of earlier runs, not repeated" })
  .option("out", { type: "string", describe: "Folder for the judgements" })
  .option("workers", { type: "number", default: 4 })
  .option("minutes", { type: "number", describe: "Begins nothing after so many; what is left out is no failure" })
  .strict()
  .parseAsync();

const known: Matrix = JSON.parse(readFileSync(MATRIX_FILE, "utf8"));
const chosen = args.all ? everything() : sample(known.survivors);
const folder = args.out ?? mkdtempSync(join(tmpdir(), "gauntlet-prove-"));
const startedMs = Date.now();
/** Of the time there is, when there is too little: the rest is for the variants. */
const SHARE_OF_FAULTS = 0.65;

type SwitchKind = Judgement["kind"];

/** Judges the named ones in processes of their own, all of them waiting most of the time. */
async function judge(kind: SwitchKind, names: readonly string[], pass: string): Promise<Judgement[]> {
  // What is in doubt is judged again, however late it is.
  const until = pass === "first" ? untilMs(kind) : undefined;
  const files = await Promise.all(
    Array.from({ length: args.workers }, async (_, index) => {
      const out = join(folder, `${kind}-${pass}-${index}.jsonl`);
      const list = join(folder, `${kind}-${pass}-${index}.txt`);
      writeFileSync(list, names.filter((_name, at) => at % args.workers === index).join("\n"));
      const many = join(import.meta.dirname, "judge-many.ts");
      const bound = until === undefined ? [] : ["--until", String(until)];
      const command = ["--import", "tsx", many, kind, out, "--names", list, ...bound];
      const worker = spawn(process.execPath, command, { stdio: ["ignore", "inherit", "inherit"] });
      await once(worker, "exit");
      return out;
    }),
  );
  return files.flatMap(readJudgements);
}

/** Runs of one that was not as it should be at first, that one included. All of them count. */
const RUNS = 3;
/** Share of all that may be not as it should be at first. */
const MOST_IN_DOUBT = 0.05;

interface Proven {
  readonly judgements: readonly Judgement[];
  /** What is wrong, with the rate at which it was seen. */
  readonly wrong: readonly string[];
  readonly inDoubt: number;
}

/**
 * Judges what earlier runs have not. The first verdict counts. Where it is not as it should be there are more runs, and the
 * rate decides: a variant that failed in any of them is wrong, and so is whatever was not as it should be in most of them.
 */
async function prove(kind: SwitchKind, names: readonly string[]): Promise<Proven> {
  const earlier = args.from.flatMap(readJudgements).filter((judgement) => judgement.kind === kind);
  const judged = new Map(earlier.filter(({ name }) => names.includes(name)).map((one) => [one.name, one] as const));
  const missing = names.filter((name) => !judged.has(name));
  for (const judgement of await judge(kind, missing, "first")) judged.set(judgement.name, judgement);
  const doubtful = [...judged.values()].filter((one) => complaints(one).length > 0);
  console.log(
    `${kind}: ${judged.size} judged after ${minutes()} min, ${doubtful.length} not as they should be at first`,
  );
  const more: Judgement[] = [];
  for (let run = 2; run <= RUNS && doubtful.length > 0; run++)
    more.push(
      ...(await judge(
        kind,
        doubtful.map(({ name }) => name),
        `run-${run}`,
      )),
    );
  const wrong: string[] = [];
  for (const first of doubtful) {
    const runs = [first, ...more.filter(({ name }) => name === first.name)];
    const bad = runs.filter((one) => complaints(one).length > 0);
    const hasFailed = kind === "variants" && runs.some((one) => one.bad.some(({ status }) => status === "fail"));
    const told = complaints(first).map((line) => `${line} (${bad.length} of ${runs.length} runs)`);
    if (hasFailed || bad.length > runs.length / 2) wrong.push(...told);
    else for (const line of told) console.log(`  in doubt: ${line}`);
  }
  const most = Math.max(2, judged.size * MOST_IN_DOUBT);
  if (doubtful.length > most)
    wrong.push(
      `${doubtful.length} of ${judged.size} ${kind} were not as they should be at first: more than ${most.toFixed(0)}`,
    );
  return { judgements: [...judged.values()], wrong, inDoubt: doubtful.length };
}

const before = new Map<string, Kill>(args.write ? [] : known.kills.map((kill) => [kill.fault, kill]));
console.log(
  `proving with ${chosen.faults.length} faults and ${chosen.variants.length} variants; judgements in ${folder}`,
);
const provenFaults = await prove("faults", chosen.faults);
const provenVariants = await prove("variants", chosen.variants);
const [faults, variants] = [provenFaults.judgements, provenVariants.judgements];
const wrong = [...provenFaults.wrong, ...provenVariants.wrong];
const unjudged = [...chosen.faults, ...chosen.variants].filter(
  (name) => ![...faults, ...variants].some((judgement) => judgement.name === name),
);
const leftOut = unjudged.length > 0 && Date.now() > (untilMs("faults") ?? Number.POSITIVE_INFINITY);
if (leftOut) console.log(`  left out for want of time: ${unjudged.join(", ")}`);
else wrong.push(...unjudged.map((name) => `${name}: not judged`));
if (args.write) writePages({ kills: faults.map(killOf), variants });

const stray = faults.flatMap((judgement) => strays(judgement, before));
for (const line of stray) console.log(`  note: ${line}`);
for (const line of wrong) console.log(`  ${line}`);
const judged = faults.length + variants.length;
const failures = faults.filter((one) => foundBy(one) === "failure").length;
const warnings = faults.filter((one) => foundBy(one) === "warning").length;
console.log(
  `prove: ${judged} judged once: of ${faults.length} faults ${failures} found by a failure, ${warnings} by a warning alone; ${provenFaults.inDoubt} faults and ${provenVariants.inDoubt} variants not as they should be at first, ${wrong.length} wrong over all runs, ${stray.length} with stray breaks, ${unjudged.length} left out, in ${minutes()} min`,
);
// A proof of nothing is none.
process.exit((wrong.length === 0 && judged > 0) || args.write ? 0 : 1);

/** When the last one of a kind may be begun, ms; `undefined`: there is no bound. */
function untilMs(kind: SwitchKind): number | undefined {
  const share = kind === "faults" ? SHARE_OF_FAULTS : 1;
  return args.minutes === undefined ? undefined : startedMs + args.minutes * 60_000 * share;
}

function minutes(): string {
  return ((Date.now() - startedMs) / 60_000).toFixed(1);
}
