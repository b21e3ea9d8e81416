/**
 * Verifies the verdicts: mutations of the reference gateway must be found under the right requirement, and its valid variants
 * must not be blamed.
 *
 *     npm run verify mutations                       a sample over all areas, under twenty minutes on two cores
 *     npm run verify mutations -- --all --write      everything; updates docs/internal/measured/kill-matrix.json and its pages
 *     npm run verify mutations -- --only '^provider' --write   those with matching names; the rest of the matrix is kept
 *     npm run verify mutations -- --minutes 10       as much of the sample as fits; lists what was skipped
 */
import { mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import yargs from "yargs";
import { complaints, isCauseRight, isUnderstated, type Kill, killOf } from "./judge/evaluate.ts";
import { judgeInWorkers } from "./judge/judge-in-workers.ts";
import { type Judgement, readJudgements } from "./judge/judgement.ts";
import { everything, type Sample, sample } from "./judge/sample.ts";
import { MATRIX_FILE, type Matrix, writePages } from "./judge/write-pages.ts";

const args = await yargs(process.argv.slice(2))
  .option("all", { type: "boolean", default: false, describe: "Every mutation and every variant" })
  .option("only", { type: "string", describe: "Those whose names match; with --write, the others of the matrix stay" })
  .option("kind", {
    choices: ["mutations", "variants"] as const,
    describe: "Only these; the others stay in the matrix",
  })
  .option("write", { type: "boolean", default: false, describe: "Renew the kill matrix and its pages" })
  .option("from", { type: "string", array: true, default: [], describe: "Judgements of earlier runs, not repeated" })
  .option("out", { type: "string", describe: "Folder for the judgements" })
  .option("workers", { type: "number", default: 4 })
  .option("minutes", { type: "number", describe: "Begins nothing after this many; what was not judged does not fail" })
  .strict()
  .parseAsync();

const known: Matrix = JSON.parse(readFileSync(MATRIX_FILE, "utf8"));
const chosen = ofKind(args.only !== undefined ? named(args.only) : args.all ? everything() : sample(known.survivors));
const folder = args.out ?? mkdtempSync(join(tmpdir(), "gauntlet-verify-"));
const startedMs = Date.now();
const NOTHING_SEEN: Judgement = { kind: "mutations", name: "", ms: 0, requests: 0, bad: [] };
/** Share of the available time if there is too little: the rest is for the variants. */
const SHARE_OF_MUTATIONS = 0.65;

type SwitchKind = Judgement["kind"];

async function judge(kind: SwitchKind, names: readonly string[], run: number): Promise<Judgement[]> {
  // Uncertain results are judged again, however late it is.
  const until = run === 1 ? untilMs(kind) : undefined;
  const options = until === undefined ? [] : ["--until", String(until)];
  return await judgeInWorkers(kind, names, { workers: args.workers, folder, label: `${kind}-${run}`, options });
}

/** Runs of a mutation or variant with an unexpected first result, including the first. All of them count. */
const RUNS = 3;
/** Maximum share of unexpected first results. */
const MAX_IN_DOUBT = 0.05;

interface Verified {
  /** The first verdict on each. */
  readonly judgements: readonly Judgement[];
  /** What is wrong, with the rate at which it was seen. */
  readonly wrong: readonly string[];
  /** Names of those that failed no check in any run. */
  readonly unfailed: readonly string[];
  readonly inDoubt: number;
}

/**
 * Judges each as often as `runs` says, including earlier runs. An unexpected result leads to more runs, and the rate decides: a
 * variant that failed in any of them is wrong, and so is anything else that was unexpected in most of them.
 */
async function verify(kind: SwitchKind, names: readonly string[], runs: number): Promise<Verified> {
  const judged = new Map<string, Judgement[]>();
  const add = (judgements: readonly Judgement[]) => {
    for (const one of judgements)
      if (one.kind === kind && names.includes(one.name)) judged.set(one.name, [...(judged.get(one.name) ?? []), one]);
  };
  add(args.from.flatMap(readJudgements));
  for (let run = 1; run <= runs; run++) {
    const missing = names.filter((name) => (judged.get(name)?.length ?? 0) < run);
    add(await judge(kind, missing, run));
  }
  const isDoubtful = (own: readonly Judgement[]) => own.some((one) => complaints(one).length > 0);
  const doubtful = [...judged].filter(([, own]) => isDoubtful(own)).map(([name]) => name);
  console.log(
    `${kind}: ${judged.size} judged after ${minutes()} min, ${doubtful.length} not as they should be at first`,
  );
  for (let run = runs + 1; run <= RUNS && doubtful.length > 0; run++) {
    const missing = doubtful.filter((name) => (judged.get(name)?.length ?? 0) < run);
    add(await judge(kind, missing, run));
  }
  const wrong: string[] = [];
  for (const own of [...judged.values()].filter(isDoubtful)) {
    const bad = own.filter((one) => complaints(one).length > 0);
    const hasFailed = kind === "variants" && own.some((one) => one.bad.some(({ status }) => status === "fail"));
    const lines = [...new Set(bad.flatMap(complaints))].map((line) => `${line} (${bad.length} of ${own.length} runs)`);
    if (hasFailed || bad.length > own.length / 2) wrong.push(...lines);
    else for (const line of lines) console.log(`  in doubt: ${line}`);
  }
  const max = Math.max(2, judged.size * MAX_IN_DOUBT);
  if (doubtful.length > max)
    wrong.push(
      `${doubtful.length} of ${judged.size} ${kind} were not as they should be at first: more than ${max.toFixed(0)}`,
    );
  const unfailed = [...judged]
    .filter(([, own]) =>
      own.every(({ bad, error }) => error === undefined && bad.every(({ status }) => status !== "fail")),
    )
    .map(([name]) => name);
  const judgements = [...judged.values()].map(([first]) => first as Judgement);
  return { judgements, wrong, unfailed, inDoubt: doubtful.length };
}

console.log(
  `verifying with ${chosen.mutations.length} mutations and ${chosen.variants.length} variants; judgements in ${folder}`,
);
// A check that occasionally blames a conformant gateway only shows in repeated runs.
const variantRuns = args.all || args.only !== undefined ? RUNS : 1;
const ofMutations = await verify("mutations", chosen.mutations, 1);
const ofVariants = await verify("variants", chosen.variants, variantRuns);
const [mutations, variants] = [ofMutations.judgements, ofVariants.judgements];
const wrong = [...ofMutations.wrong, ...ofVariants.wrong];
const unjudged = [...chosen.mutations, ...chosen.variants].filter(
  (name) => ![...mutations, ...variants].some((judgement) => judgement.name === name),
);
const ranOutOfTime = unjudged.length > 0 && Date.now() > (untilMs("mutations") ?? Number.POSITIVE_INFINITY);
if (ranOutOfTime) console.log(`  omitted for lack of time: ${unjudged.join(", ")}`);
else wrong.push(...unjudged.map((name) => `${name}: not judged`));
const kills = mutations.map(killOf);
if (args.write) {
  const isOther = (name: string) => args.only !== undefined && !new RegExp(args.only).test(name);
  const unseen = known.survivors.map((name) => killOf({ ...NOTHING_SEEN, name }));
  const isKept = (kind: SwitchKind, name: string) => isOther(name) || (args.kind !== undefined && args.kind !== kind);
  writePages({
    kills: [...kills, ...[...known.kills, ...unseen].filter(({ mutation }) => isKept("mutations", mutation))],
    variants: [...ofVariants.unfailed, ...known.variants.filter((name) => isKept("variants", name))],
    variantRuns: args.kind === "mutations" ? known.variantRuns : variantRuns,
  });
}

for (const line of wrong) console.log(`  ${line}`);
const judged = mutations.length + variants.length;
const found = (by: Kill["foundBy"]) => kills.filter(({ foundBy }) => foundBy === by).length;
console.log(
  `verify: ${judged} judged: of ${mutations.length} mutations ${found("failure")} found by a failure, ${found("warning")} by a warning alone, ${kills.filter(isUnderstated).length} of these in a MUST; first cause right for ${kills.filter(isCauseRight).length}; ${ofMutations.inDoubt} mutations and ${ofVariants.inDoubt} variants not as they should be at first, ${wrong.length} wrong over all runs, ${unjudged.length} omitted, in ${minutes()} min`,
);
// A run that judged nothing has verified nothing.
process.exit(wrong.length === 0 && judged > 0 ? 0 : 1);

function ofKind({ mutations, variants }: Sample): Sample {
  return {
    mutations: args.kind === "variants" ? [] : mutations,
    variants: args.kind === "mutations" ? [] : variants,
  };
}

function named(pattern: string): Sample {
  const { mutations, variants } = everything();
  const matches = (name: string) => new RegExp(pattern).test(name);
  return { mutations: mutations.filter(matches), variants: variants.filter(matches) };
}

/** When the last one of a kind may be started, ms; `undefined`: no limit. */
function untilMs(kind: SwitchKind): number | undefined {
  const share = kind === "mutations" ? SHARE_OF_MUTATIONS : 1;
  return args.minutes === undefined ? undefined : startedMs + args.minutes * 60_000 * share;
}

function minutes(): string {
  return ((Date.now() - startedMs) / 60_000).toFixed(1);
}
