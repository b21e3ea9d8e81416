/**
 * The proof that verdicts are true: defects of the reference gateway must be seen in the row that they belong to, odd but
 * sound variants of it must not be blamed.
 *
 *     npm run prove                       a sample over all areas, under twenty minutes on two cores
 *     npm run prove -- --all --write      everything; renews docs/kill-matrix.json and the pages made from it
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
  .strict()
  .parseAsync();

const known: Matrix = JSON.parse(readFileSync(MATRIX_FILE, "utf8"));
const chosen = args.all ? everything() : sample(known.survivors);
const folder = args.out ?? mkdtempSync(join(tmpdir(), "gauntlet-prove-"));
const startedMs = Date.now();

type SwitchKind = Judgement["kind"];

/** Judges the named ones in processes of their own, all of them waiting most of the time. */
async function judge(kind: SwitchKind, names: readonly string[], pass: string): Promise<Judgement[]> {
  const files = await Promise.all(
    Array.from({ length: args.workers }, async (_, index) => {
      const out = join(folder, `${kind}-${pass}-${index}.jsonl`);
      const list = join(folder, `${kind}-${pass}-${index}.txt`);
      writeFileSync(list, names.filter((_name, at) => at % args.workers === index).join("\n"));
      const many = join(import.meta.dirname, "judge-many.ts");
      const worker = spawn(process.execPath, ["--import", "tsx", many, kind, out, "--names", list], {
        stdio: ["ignore", "inherit", "inherit"],
      });
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
    console.log(`${kind}: ${names.length} judged after ${minutes()} min, ${doubtful().length} to be judged ${pass}`);
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
wrong.push(...unjudged.map((name) => `${name}: not judged`));
if (args.write) writePages({ kills: faults.map(killOf), variants });

for (const line of faults.flatMap((judgement) => strays(judgement, before))) console.log(`  note: ${line}`);
for (const line of wrong) console.log(`  ${line}`);
const judged = chosen.faults.length + chosen.variants.length;
console.log(`prove: ${judged - wrong.length} as they should be, ${wrong.length} not, in ${minutes()} min`);
process.exit(wrong.length === 0 || args.write ? 0 : 1);

function minutes(): string {
  return ((Date.now() - startedMs) / 60_000).toFixed(1);
}
