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
import { complaints, type Kill, killOf, strays } from "./evaluate.ts";
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

/** Judges what earlier runs have not, and up to twice more what was not as it should be: a busy machine is no finding. */
async function prove(kind: SwitchKind, names: readonly string[]): Promise<Judgement[]> {
  const earlier = args.from.flatMap(readJudgements).filter((judgement) => judgement.kind === kind);
  const judged = new Map(earlier.filter(({ name }) => names.includes(name)).map((one) => [one.name, one] as const));
  const missing = names.filter((name) => !judged.has(name));
  for (const judgement of await judge(kind, missing, "first")) judged.set(judgement.name, judgement);
  const doubtful = () => [...judged.values()].filter((one) => complaints(one).length > 0).map(({ name }) => name);
  for (const pass of ["again", "once-more"]) {
    console.log(`${kind}: ${judged.size} judged after ${minutes()} min, ${doubtful().length} to be judged ${pass}`);
    if (doubtful().length === 0) break;
    for (const again of await judge(kind, doubtful(), pass))
      if (complaints(again).length === 0) judged.set(again.name, again);
  }
  return [...judged.values()];
}

const before = new Map<string, Kill>(args.write ? [] : known.kills.map((kill) => [kill.fault, kill]));
console.log(
  `proving with ${chosen.faults.length} faults and ${chosen.variants.length} variants; judgements in ${folder}`,
);
const faults = await prove("faults", chosen.faults);
const variants = await prove("variants", chosen.variants);

const wrong = [...faults, ...variants].flatMap((judgement) => complaints(judgement));
const unjudged = [...chosen.faults, ...chosen.variants].filter(
  (name) => ![...faults, ...variants].some((judgement) => judgement.name === name),
);
const leftOut = unjudged.length > 0 && Date.now() > (untilMs("faults") ?? Number.POSITIVE_INFINITY);
if (leftOut) console.log(`  left out for want of time: ${unjudged.join(", ")}`);
else wrong.push(...unjudged.map((name) => `${name}: not judged`));
if (args.write) writePages({ kills: faults.map(killOf), variants });

for (const line of faults.flatMap((judgement) => strays(judgement, before))) console.log(`  note: ${line}`);
for (const line of wrong) console.log(`  ${line}`);
const judged = faults.length + variants.length;
console.log(`prove: ${judged - wrong.length} as they should be, ${wrong.length} not, in ${minutes()} min`);
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
